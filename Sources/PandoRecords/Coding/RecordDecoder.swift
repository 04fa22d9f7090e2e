package import PandoModels

/// Makes models from the bodies of records.
///
/// Parsing is lazy: a container finds its fields in the bytes when a model reads them. Children are
/// read from their own records through the source.
///
/// A `Decoder` can escape: one that a model keeps throws `ModelError` `snapshotEnded` after the
/// model was made.
///
/// - Note: One thread at a time.
package struct RecordDecoder {
  private let source: any RecordSource
  private let usesFields: Bool

  /// Makes a decoder.
  ///
  /// - Parameters:
  ///   - source: The source of referenced records.
  ///   - usingFields: Whether ``FieldCodable`` types read their own fields.
  package init(source: any RecordSource, usingFields: Bool = true) {
    self.source = source
    usesFields = usingFields
  }

  /// Decodes a value and the children in it.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - body: The bytes of a record, or of a value in one; valid during the call.
  /// - Returns: The value, which contains none of the bytes.
  /// - Throws: `ModelError` that names the field; the error of the source.
  package func decode<Value: Decodable>(
    _ type: Value.Type, from body: UnsafeRawBufferPointer
  ) throws -> Value {
    try unsafe Self.decode(type, from: body) {
      DecodingSession.begin(source: source, usingFields: usesFields)
    }
  }

  /// Decodes a value without references.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - body: Bytes, valid during the call.
  ///   - usingFields: Whether ``FieldCodable`` types read their own fields.
  /// - Returns: The value, which contains none of the bytes.
  /// - Throws: `ModelError` that names the field.
  package static func decodeValue<Value: Decodable>(
    _ type: Value.Type, from body: UnsafeRawBufferPointer, usingFields: Bool = true
  ) throws -> Value {
    try unsafe decode(type, from: body) { DecodingSession.begin(usingFields: usingFields) }
  }

  /// Decodes a value without references.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - body: The bytes.
  ///   - usingFields: Whether ``FieldCodable`` types read their own fields.
  /// - Returns: The value.
  /// - Throws: `ModelError` that names the field.
  package static func decodeValue<Value: Decodable>(
    _ type: Value.Type, from body: [UInt8], usingFields: Bool = true
  ) throws -> Value {
    try unsafe body.withUnsafeBytes {
      try unsafe decode(type, from: $0) { DecodingSession.begin(usingFields: usingFields) }
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

/// A ``RecordDecoder`` for successive records, which keeps its session.
///
/// - Note: One thread at a time.
@safe package final class KeptRecordDecoder {
  @exclusivity(unchecked) private var session = DecodingSession()
  /// Whether a decoding is under way.
  @exclusivity(unchecked) private var isInUse = false

  package init() {}

  /// Decodes a value and the children in it.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - body: The bytes of a record, or of a value in one; valid during the call.
  ///   - source: The source of referenced records.
  /// - Returns: The value, which contains none of the bytes.
  /// - Throws: `ModelError` that names the field; the error of the source.
  package func decode<Value: Decodable>(
    _ type: Value.Type, from body: UnsafeRawBufferPointer, source: any RecordSource
  ) throws -> Value {
    // A model reads another one while it is made.
    guard unsafe !isInUse else {
      return try unsafe RecordDecoder(source: source).decode(type, from: body)
    }
    unsafe isInUse = true
    unsafe session.begin(source: source)
    defer {
      if unsafe !DecodingSession.finish(&session) { unsafe session = DecodingSession() }
      unsafe isInUse = false
    }
    return try unsafe session.decodeWhole(type, from: body)
  }
}

/// The records to which a record refers, for a decoder.
package protocol RecordSource: AnyObject {
  /// The bytes of the record for `type`: the type's own, or else the node's newest.
  ///
  /// - Parameters:
  ///   - reference: The reference in the record.
  ///   - type: The type to decode.
  /// - Returns: Bytes that are valid until the source ends.
  /// - Throws: An error if there is no such record, or the source has ended.
  func body(
    of reference: RecordReference, as type: any SimpleModel.Type
  ) throws -> UnsafeRawBufferPointer

  /// The identifier of a node, for messages; `nil` if unknown.
  func identifier(of reference: RecordReference) -> String?

  /// Whether the bytes are no longer valid.
  var hasEnded: Bool { get }
}

extension RecordSource {
  package func identifier(of reference: RecordReference) -> String? { nil }
}

/// A type of a higher module that reads itself from one item of a record.
///
/// Its `init(from:)` must return an equal value. This initializer is tried first, because `Codable`
/// containers cost more than reading a small item.
package protocol RecordItemDecodable: Decodable {
  /// Reads the next item.
  ///
  /// - Parameter reader: The reader before the item; its final position is ignored.
  /// - Throws: Any error: then `init(from:)` reads the item, and its error counts.
  init(item reader: inout CBORReader) throws
}

/// Thrown by a ``RecordItemDecodable`` for an item that `init(from:)` must read.
package struct OtherRecordItem: Error {
  package init() {}
}
