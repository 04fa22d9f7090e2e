/// Reads the fields of a map; only the type of the keys is its own.
///
/// The standard library copies it for each field, so that of a whole value counts no references: its
/// `Lease` is ``NoLease``. A container inside another one has a ``FieldReaderLease``.
struct KeyedRecordDecoder<Key: CodingKey, Lease>: KeyedDecodingContainerProtocol {
  let map: FieldReader
  private let lease: Lease

  /// Makes a container.
  init(map: FieldReader, lease: Lease) {
    self.map = map
    self.lease = lease
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
      return KeyedDecodingContainer(
        KeyedRecordDecoder<NestedKey, FieldReaderLease>(
          map: nested, lease: FieldReaderLease(nested)))
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
