/// A ``RecordDecoder`` for one record after another, which keeps what decoding needs.
///
/// - Note: One thread at a time.
@safe package final class KeptRecordDecoder {
  /// What the next decoding uses; `nil` while one is under way.
  @exclusivity(unchecked) private var session: DecodingSession?

  package init() {}

  /// Decodes a value and the children in it.
  ///
  /// - Parameters:
  ///   - type: What to decode.
  ///   - body: The bytes of a record, or of a value that lies in one; valid during the call.
  ///   - source: Gives the records that records refer to.
  /// - Returns: The value; it holds none of the bytes.
  /// - Throws: ``ModelError`` that names the field; what the source throws.
  package func decode<Value: Decodable>(
    _ type: Value.Type, from body: UnsafeRawBufferPointer, source: any RecordSource
  ) throws -> Value {
    var session = unsafe self.session ?? DecodingSession()
    unsafe self.session = nil
    session.begin(source: source)
    defer { if DecodingSession.finish(&session) { unsafe self.session = session } }
    return try unsafe session.decodeWhole(type, from: body)
  }
}
