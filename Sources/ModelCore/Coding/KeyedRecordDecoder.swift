/// Reads the fields of a map; only the type of the keys is its own.
struct KeyedRecordDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let map: FieldReader

  /// Always empty: errors get their path on the way out.
  var codingPath: [any CodingKey] { [] }

  var allKeys: [Key] {
    unsafe map.session.hasEnded ? [] : map.names.compactMap { Key(stringValue: $0) }
  }

  func contains(_ key: Key) -> Bool { map.contains(key.stringValue) }

  func decodeNil(forKey key: Key) throws -> Bool { try map.isNull(key.stringValue) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try map.decode(type, key.stringValue)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try map.inside(key.stringValue) { reader in
      let level = unsafe try map.session.nestedLevel(map.level)
      let nested = try FieldReader.open(reader, in: map.session, level: level)
      return KeyedDecodingContainer(KeyedRecordDecoder<NestedKey>(map: nested))
    }
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try map.inside(key.stringValue) { reader in
      let level = unsafe try map.session.nestedLevel(map.level)
      return try UnkeyedRecordDecoder(reader, in: map.session, level: level)
    }
  }

  func superDecoder() throws -> any Decoder { try decoder("super") }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key.stringValue) }

  private func decoder(_ name: String) throws -> any Decoder {
    try map.inside(name) { reader in
      var reader = reader
      return unsafe ValueDecoder(map.session, try reader.itemReader(), level: map.level)
    }
  }
}
