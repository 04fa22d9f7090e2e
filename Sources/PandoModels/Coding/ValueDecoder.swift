/// The decoder of one value.
///
/// Three words, so that it needs no allocation as an `any Decoder`.
@safe struct ValueDecoder {
  let session: DecodingSession
  private let start: UnsafeRawPointer
  /// A body has less than 4 GiB, for LMDB's values have.
  private let byteCount: UInt32
  private let levelNumber: UInt32

  init(_ session: DecodingSession, _ value: CBORReader, level: Int) {
    self.session = session
    unsafe start = value.position
    byteCount = UInt32(truncatingIfNeeded: value.remaining)
    levelNumber = UInt32(truncatingIfNeeded: level)
  }

  var level: Int { Int(levelNumber) }

  /// Reads the value.
  func reader() throws -> CBORReader {
    try session.checkAlive()
    // The bytes were checked to be there when the value was found.
    return unsafe CBORReader(start: start, end: start + Int(byteCount))
  }
}

extension ValueDecoder: Decoder {
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Always empty: errors get their path on the way out.
  var codingPath: [any CodingKey] { [] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let map = try unsafe FieldReader.open(
      reader(), in: session, level: level, owner: session.owner)
    return unsafe map.index.pointee.container(map, keyedBy: type)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try UnkeyedRecordDecoder(reader(), in: session, level: level)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    try session.checkAlive()
    return self
  }
}

extension ValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { (try? reader().peek().isNull) ?? false }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    var reader = try reader()
    return try session.decode(type, from: &reader, level: level)
  }
}
