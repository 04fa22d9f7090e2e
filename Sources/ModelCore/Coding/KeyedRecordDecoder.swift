/// Reads the fields of a map.
@safe struct KeyedRecordDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let session: DecodingSession
  /// The fields, one after another.
  private let fields: CBORReader
  private let count: Int
  private let place: Int
  private let ticket: UInt64
  let level: Int
  let schema: (any SchemaVersioned.Type)?

  /// Opens a map, maybe in the tags that say how it is lost.
  init(
    _ value: CBORReader, in session: DecodingSession, level: Int,
    schema: (any SchemaVersioned.Type)? = nil
  ) throws {
    var reader = value
    var head = try reader.head()
    while head.major == .tag,
      head.argument == RecordTag.optionalSlot || head.argument == RecordTag.entries
    {
      head = try reader.head()
    }
    guard head.major == .map else { throw ModelError.mismatch("a map of fields", head) }
    self.session = session
    self.level = level
    self.schema = schema
    count = Int(head.argument)
    fields = reader
    (place, ticket) = try session.index(&reader, count: count)
  }

  /// Always empty: errors get their path on the way out.
  var codingPath: [any CodingKey] { [] }

  var allKeys: [Key] {
    guard unsafe !session.hasEnded else { return [] }
    var reader = fields
    var keys: [Key] = []
    for _ in 0..<count {
      guard let head = try? reader.peek() else { break }
      if head.major == .text, let text = try? reader.text() {
        if let key = Key(stringValue: text) { keys.append(key) }
      } else {
        guard (try? reader.skip()) != nil else { break }
      }
      guard (try? reader.skip()) != nil else { break }
    }
    return keys
  }

  func contains(_ key: Key) -> Bool {
    guard unsafe !session.hasEnded else { return false }
    return find(key.stringValue) != nil || former(key.stringValue) != nil
  }

  /// Where the value of a field begins.
  func find(_ name: String) -> CBORReader? {
    var name = name
    return name.withUTF8 { key in
      let key = UnsafeRawBufferPointer(key)
      if unsafe place < session.maps.count && session.maps[place].ticket == ticket {
        // The session's pointers lie in the map.
        return unsafe session.value(of: key, in: session.maps[place]).map {
          unsafe CBORReader(start: $0, end: fields.end)
        }
      }
      return unsafe scan(for: key)
    }
  }

  /// Looks for a field without the index.
  private func scan(for key: UnsafeRawBufferPointer) -> CBORReader? {
    var reader = fields
    for _ in 0..<count {
      guard let head = try? reader.peek() else { return nil }
      if head.major == .text, let found = unsafe try? reader.textBytes() {
        if unsafe found.elementsEqual(key) { return reader }
      } else {
        guard (try? reader.skip()) != nil else { return nil }
      }
      guard (try? reader.skip()) != nil else { return nil }
    }
    return nil
  }

  /// The value of a field that had another name before.
  private func former(_ name: String) -> CBORReader? {
    guard let names = schema?.formerFieldNames[name] else { return nil }
    return names.lazy.compactMap { find($0) }.first
  }

  /// A field by its present or a former name; `nil` if the map has neither.
  func field(_ key: Key) throws -> CBORReader? {
    try session.checkAlive()
    let name = key.stringValue
    if let found = find(name) { return found }
    return schema == nil ? nil : former(name)
  }

  /// What a field that is not there holds: the default that its type declares.
  func missing<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value {
    if let value = try defaultValue(type, name) { return value }
    throw ModelError(
      .missingField, reason: "the record has no field \"\(name)\" and its type no default for it"
    ).inside(name)
  }

  /// The default that the type declares for a field.
  func defaultValue<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value? {
    guard let value = schema?.fieldDefaults[name] else { return nil }
    if let value = value as? Value { return value }
    do {
      let body = try RecordEncoder.encodeValue(value).body
      return try RecordDecoder.decodeValue(type, from: body)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try inside(key) { reader in
      session.makeRoomForNested(above: place + 1)
      return try KeyedDecodingContainer(
        KeyedRecordDecoder<NestedKey>(reader, in: session, level: nestedLevel()))
    }
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try inside(key) { try UnkeyedRecordDecoder($0, in: session, level: nestedLevel()) }
  }

  func superDecoder() throws -> any Decoder {
    try session.checkAlive()
    guard let reader = find("super") else { throw ModelError.noSuper.inside("super") }
    return ValueDecoder(session, reader, level: level)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    try inside(key) { ValueDecoder(session, $0, level: level) }
  }

  private func nestedLevel() throws -> Int {
    guard level < RecordLimits.maximumNestingDepth else { throw EncodingSession.nestingTooDeep }
    return level + 1
  }

  /// Runs a closure on a field that has to be there, and names the field in what it throws.
  private func inside<Result>(
    _ key: Key, _ body: (CBORReader) throws -> Result
  ) throws -> Result {
    guard let reader = try field(key) else {
      throw ModelError(
        .missingField, reason: "the record has no field \"\(key.stringValue)\""
      ).inside(key.stringValue)
    }
    do {
      return try body(reader)
    } catch {
      throw ModelError.located(error, inside: key.stringValue)
    }
  }
}
