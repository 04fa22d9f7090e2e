/// Makes models from the bodies of records.
///
/// Nothing is parsed before a model asks for it: a container finds its fields in the bytes. Children
/// are read from their own records through the source.
///
/// A `Decoder` can't be kept from escaping: one that a model keeps throws ``ModelError``
/// `snapshotEnded` when it is used after the model has been made.
///
/// - Note: One thread at a time.
package struct RecordDecoder {
  private let source: any RecordSource
  private let usesFields: Bool

  /// Makes a decoder.
  ///
  /// - Parameters:
  ///   - source: Gives the records that records refer to.
  ///   - usingFields: Whether types that read their fields themselves do so.
  package init(source: any RecordSource, usingFields: Bool = true) {
    self.source = source
    usesFields = usingFields
  }

  /// Decodes a value and the children in it.
  ///
  /// - Parameters:
  ///   - type: What to decode.
  ///   - body: The bytes of a record, or of a value that lies in one; valid during the call.
  /// - Returns: The value; it holds none of the bytes.
  /// - Throws: ``ModelError`` that names the field; what the source throws.
  package func decode<Value: Decodable>(
    _ type: Value.Type, from body: UnsafeRawBufferPointer
  ) throws -> Value {
    try unsafe Self.decode(type, from: body) {
      DecodingSession.begin(source: source, usingFields: usesFields)
    }
  }

  /// Decodes a value that holds no references.
  ///
  /// - Parameters:
  ///   - type: What to decode.
  ///   - body: Bytes, valid during the call.
  ///   - usingFields: Whether types that read their fields themselves do so.
  /// - Returns: The value; it holds none of the bytes.
  /// - Throws: ``ModelError`` that names the field.
  package static func decodeValue<Value: Decodable>(
    _ type: Value.Type, from body: UnsafeRawBufferPointer, usingFields: Bool = true
  ) throws -> Value {
    try unsafe decode(type, from: body) { DecodingSession.begin(usingFields: usingFields) }
  }

  /// Decodes a value that holds no references.
  ///
  /// - Parameters:
  ///   - type: What to decode.
  ///   - body: The bytes.
  ///   - usingFields: Whether types that read their fields themselves do so.
  /// - Returns: The value.
  /// - Throws: ``ModelError`` that names the field.
  package static func decodeValue<Value: Decodable>(
    _ type: Value.Type, from body: [UInt8], usingFields: Bool = true
  ) throws -> Value {
    try unsafe body.withUnsafeBytes {
      try unsafe decodeValue(type, from: $0, usingFields: usingFields)
    }
  }

  /// Decodes a value in a session of its own.
  static func decode<Value: Decodable>(
    _ type: Value.Type, from body: UnsafeRawBufferPointer, in begin: () -> DecodingSession
  ) throws -> Value {
    var session = begin()
    defer { DecodingSession.end(&session) }
    return try unsafe session.decodeWhole(type, from: body)
  }
}
