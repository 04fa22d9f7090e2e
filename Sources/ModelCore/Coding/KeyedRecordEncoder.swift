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
    try frame.beginField(key.stringValue)
    let (edgeCount, referenceCount) = unsafe (frame.edges.count, frame.referenceCount)
    do {
      if unsafe try frame.encode(value, slot: slot, level: frame.level) == .written {
        return frame.endEntry()
      }
      frame.cancelEntry()
      if slot == .optional { return try encodeNil(forKey: key) }
      unsafe frame.isLost = true
    } catch {
      frame.cancelEntry()
      unsafe frame.edges.removeSubrange(edgeCount...)
      unsafe frame.referenceCount = referenceCount
      throw ModelError.located(error, inside: key.stringValue)
    }
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
