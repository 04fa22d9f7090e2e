/// Reads the fields of a map; only the type of the keys is its own.
struct KeyedRecordDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let map: FieldReader
  /// Of a container inside another.
  private let lease: FieldReaderLease?

  /// Makes the container of a whole value.
  init(map: FieldReader) {
    self.map = map
    lease = nil
  }

  /// Makes a container inside another one.
  init(nested map: FieldReader) {
    self.map = map
    lease = FieldReaderLease(map)
  }

  /// Always empty: errors get their path on the way out.
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
      let nested = try FieldReader.openNested(reader, in: session, level: level)
      return KeyedDecodingContainer(KeyedRecordDecoder<NestedKey>(nested: nested))
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
