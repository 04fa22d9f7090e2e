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
  ///   - keepingContainers: Whether a keyed container may serve several maps.
  /// - Returns: The value.
  /// - Throws: ``ModelError`` that names the field.
  package static func decodeValue<Value: Decodable>(
    _ type: Value.Type, from body: [UInt8], usingFields: Bool = true,
    keepingContainers: Bool = canKeepContainers
  ) throws -> Value {
    try unsafe body.withUnsafeBytes {
      try unsafe decode(type, from: $0) {
        DecodingSession.begin(usingFields: usingFields, keepingContainers: keepingContainers)
      }
    }
  }

  /// Whether keyed containers can serve several maps: whether their layout is the expected one.
  package static var canKeepContainers: Bool { unsafe FieldIndex.areContainersReferences }

  /// Decodes a value in a session of its own.
  static func decode<Value: Decodable>(
    _ type: Value.Type, from body: UnsafeRawBufferPointer, in begin: () -> DecodingSession
  ) throws -> Value {
    var session = begin()
    defer { DecodingSession.end(&session) }
    return try unsafe session.decodeWhole(type, from: body)
  }
}

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

/// Gives a decoder the records that a record refers to.
package protocol RecordSource: AnyObject {
  /// The bytes of the record to decode `type` from: the type's own record, else the node's newest.
  ///
  /// - Parameters:
  ///   - reference: What the record says.
  ///   - type: The type that is wanted.
  /// - Returns: Bytes that are valid until the source ends.
  /// - Throws: When there is no such record, or the source has ended.
  func body(
    of reference: RecordReference, as type: any SimpleModel.Type
  ) throws -> UnsafeRawBufferPointer

  /// The identifier of a node, for messages; `nil` if it can't be told.
  func identifier(of reference: RecordReference) -> String?

  /// Whether the bytes are no longer valid.
  var hasEnded: Bool { get }
}

extension RecordSource {
  package func identifier(of reference: RecordReference) -> String? { nil }
}

/// A type of a module above this one that reads itself from one item of a record.
///
/// Its `init(from:)` must give the same; this one is asked first, for the containers of `Codable` cost
/// more than reading a small item.
package protocol RecordItemDecodable: Decodable {
  /// Reads the next item.
  ///
  /// - Parameter reader: Before the item; where it is left does not matter.
  /// - Throws: Anything: the item is then read by `init(from:)`, whose error counts.
  init(item reader: inout CBORReader) throws
}

/// Thrown by a ``RecordItemDecodable`` for an item that is left to its `init(from:)`.
package struct OtherRecordItem: Error {
  package init() {}
}
