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

  /// Always empty: errors get their path on the way out.
  var codingPath: [any CodingKey] { [] }

  var count: Int? { elementCount }

  var isAtEnd: Bool { currentIndex >= elementCount }

  mutating func decodeNil() throws -> Bool {
    try check()
    guard try reader.takeNull() else { return false }
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
      let map = try FieldReader.openNested(reader.itemReader(), in: session, level: level)
      return KeyedDecodingContainer(KeyedRecordDecoder<NestedKey>(nested: map))
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

  /// Reads the next element; one that throws is not passed over.
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
  /// A reader of the next item alone; this one moves behind it.
  mutating func itemReader() throws(CBORError) -> CBORReader {
    unsafe CBORReader(try item())
  }
}

extension DecodingSession {
  /// The items of an array that holds the same numbers as some bytes.
  fileprivate func expandedBytes(_ bytes: UnsafeRawBufferPointer) -> CBORReader {
    var writer = CBORWriter(minimumCapacity: 2 * bytes.count)
    for byte in unsafe [UInt8](bytes) { writer.append(UInt64(byte)) }
    return unsafe CBORReader(keep(writer))
  }
}
