/// Writes the fields of a value into its frame.
struct KeyedRecordEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let frame: EncodingFrame

  var codingPath: [any CodingKey] { frame.codingPath }

  func encodeNil(forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.appendNull()
    frame.endEntry()
  }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encode(value, forKey: key, slot: .required)
  }

  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    guard let value else { return try encodeNil(forKey: key) }
    try encode(value, forKey: key, slot: .optional)
  }

  func encodeConditional<Value: AnyObject & Encodable>(_ value: Value, forKey key: Key) throws {
    try encode(value, forKey: key, slot: .required)
  }

  private func encode<Value: Encodable>(
    _ value: Value, forKey key: Key, slot: EncodingSlot
  ) throws {
    let name = key.stringValue
    try frame.beginField(name)
    try frame.encodeField(value, slot: slot, name: name)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    nest(key.stringValue).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nest(key.stringValue).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { nest("super") }

  func superEncoder(forKey key: Key) -> any Encoder { nest(key.stringValue) }

  private func nest(_ key: String) -> EncodingFrame {
    do {
      try frame.beginField(key)
      return frame.nest(slot: .required)
    } catch {
      return frame.refuse(error)
    }
  }
}
