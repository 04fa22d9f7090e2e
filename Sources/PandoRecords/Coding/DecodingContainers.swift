import PandoModels

/// The decoder of one value.
///
/// It has three words, so that it needs no allocation as an `any Decoder`.
@safe struct ValueDecoder {
  let session: DecodingSession
  private let start: UnsafeRawPointer
  /// A body has less than 4 GiB, like all values in LMDB.
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
    // The bytes were checked when the value was found.
    return unsafe CBORReader(start: start, end: start + Int(byteCount))
  }
}

extension ValueDecoder: Decoder {
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Always empty: errors get their path while they propagate.
  var codingPath: [any CodingKey] { [] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let map = try unsafe FieldReader(
      reader(), in: session, level: level, history: session.owner?.pointee.history)
    return KeyedDecodingContainer(KeyedRecordDecoder<Key>(map: map))
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

/// The types with a method of their own in the protocol.
extension ValueDecoder {
  @inline(__always)
  func decode<Known: RecordScalarDecodable & Decodable>(_ type: Known.Type) throws -> Known {
    try read(type)
  }

  @inline(__always)
  private func read<Known: RecordScalarDecodable>(_ type: Known.Type) throws -> Known {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  // The protocol has defaults for these, which would take precedence over a generic method.
  func decode(_ type: Int128.Type) throws -> Int128 { try read(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try read(type) }
}

/// Reads the fields of a map; generic only in the type of the keys.
struct KeyedRecordDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let map: FieldReader
  /// Always empty: errors get their path while they propagate.
  var codingPath: [any CodingKey] { [] }

  var allKeys: [Key] {
    map.names.compactMap { Key(stringValue: $0) }
  }

  func contains(_ key: Key) -> Bool { map.contains(key.stringValue) }

  func decodeNil(forKey key: Key) throws -> Bool { try map.isNull(key.stringValue) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try map.inside(key.stringValue) { reader in
      let session = try map.session()
      let level = try session.nestedLevel(map.level)
      let nested = try FieldReader(reader, in: session, level: level)
      return KeyedDecodingContainer(KeyedRecordDecoder<NestedKey>(map: nested))
    }
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try map.inside(key.stringValue) { reader in
      let session = try map.session()
      let level = try session.nestedLevel(map.level)
      return try UnkeyedRecordDecoder(reader, in: session, level: level)
    }
  }

  func superDecoder() throws -> any Decoder { try decoder("super") }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key.stringValue) }

  private func decoder(_ name: String) throws -> any Decoder {
    try map.inside(name) { reader in
      var reader = reader
      return try ValueDecoder(map.session(), reader.itemReader(), level: map.level)
    }
  }
}

/// The types with a method of their own in the protocol.
extension KeyedRecordDecoder {
  @inline(__always)
  func decode<Known: RecordScalarDecodable & Decodable>(
    _ type: Known.Type, forKey key: Key
  ) throws -> Known {
    try read(type, key)
  }

  @inline(__always)
  private func read<Known: RecordScalarDecodable & Decodable>(
    _ type: Known.Type, _ key: Key
  ) throws -> Known {
    var name = key.stringValue
    return try map.decodeKnown(type, &name)
  }

  @inline(__always)
  private func readIfPresent<Known: RecordScalarDecodable & Decodable>(
    _ type: Known.Type, _ key: Key
  ) throws -> Known? {
    var name = key.stringValue
    return try map.decodeKnownIfPresent(type, &name)
  }

  // The protocol has defaults for these types, which would take precedence over generic methods.

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try read(type, key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try read(type, key) }
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try readIfPresent(type, key)
  }
}

/// Reads the elements of an array.
struct UnkeyedRecordDecoder: UnkeyedDecodingContainer {
  let session: DecodingSession
  private var reader: CBORReader
  private let elementCount: Int
  private(set) var currentIndex = 0
  private let level: Int

  /// Opens an array, or bytes, which read as an array of numbers.
  init(_ value: CBORReader, in session: DecodingSession, level: Int) throws {
    reader = value
    let head = try reader.head()
    if head.major == .bytes {
      reader = unsafe session.expandedBytes(reader.bytes(of: head))
    } else if head.major != .array {
      throw ModelError.mismatch("an array", head)
    }
    elementCount = Int(head.argument)
    self.session = session
    self.level = level
  }

  /// Always empty: errors get their path while they propagate.
  var codingPath: [any CodingKey] { [] }

  var count: Int? { elementCount }

  var isAtEnd: Bool { currentIndex >= elementCount }

  mutating func decodeNil() throws -> Bool {
    try check()
    guard reader.takeNull() else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try next { session, reader, level in
      try session.decode(type, from: &reader, level: level)
    }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try next { session, reader, level in
      let level = try session.nestedLevel(level)
      let map = try FieldReader(reader.itemReader(), in: session, level: level)
      return KeyedDecodingContainer(KeyedRecordDecoder<NestedKey>(map: map))
    }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next { session, reader, level in
      try UnkeyedRecordDecoder(reader.itemReader(), in: session, level: session.nestedLevel(level))
    }
  }

  mutating func superDecoder() throws -> any Decoder {
    try next { session, reader, level in
      try ValueDecoder(session, reader.itemReader(), level: level)
    }
  }

  private func check() throws {
    try session.checkAlive()
    guard !isAtEnd else {
      throw ModelError(
        .missingField, reason: "the array has only \(elementCount) elements"
      ).inside("[\(currentIndex)]")
    }
  }

  /// Reads the next element; does not advance if that throws.
  mutating func next<Result>(
    _ body: (DecodingSession, inout CBORReader, Int) throws -> Result
  ) throws -> Result {
    try check()
    var item = reader
    do {
      let result = try body(session, &item, level)
      reader = item
      currentIndex += 1
      return result
    } catch {
      throw ModelError.located(error, inside: "[\(currentIndex)]")
    }
  }
}

extension CBORReader {
  /// A reader of the next item alone; this one advances past it.
  mutating func itemReader() throws(CBORError) -> CBORReader {
    unsafe CBORReader(try item())
  }
}

extension DecodingSession {
  /// The items of an array with the same numbers as some bytes.
  fileprivate func expandedBytes(_ bytes: UnsafeRawBufferPointer) -> CBORReader {
    var writer = CBORWriter(minimumCapacity: 2 * bytes.count)
    for byte in unsafe [UInt8](bytes) { writer.append(UInt64(byte)) }
    return unsafe CBORReader(keep(writer))
  }
}

/// The types with a method of their own in the protocol.
extension UnkeyedRecordDecoder {
  @inline(__always)
  mutating func decode<Known: RecordScalarDecodable & Decodable>(
    _ type: Known.Type
  ) throws -> Known {
    try next { _, reader, _ in try type.decodeScalar(from: &reader) }
  }

  // The protocol has defaults for these, which would take precedence over a generic method.
  mutating func decode(_ type: Int128.Type) throws -> Int128 {
    try next { _, reader, _ in try type.decodeScalar(from: &reader) }
  }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
    try next { _, reader, _ in try type.decodeScalar(from: &reader) }
  }
}
