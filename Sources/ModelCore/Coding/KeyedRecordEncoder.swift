/// Writes the fields of a value into its frame.
struct KeyedRecordEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let handle: EncodingHandle

  var codingPath: [any CodingKey] { handle.frameOrRefusal.codingPath }

  func encodeNil(forKey key: Key) throws {
    let content = try unsafe handle.beginField(key.stringValue)
    unsafe content.pointee.writer.appendNull()
    unsafe content.pointee.endEntry()
  }

  /// Writes a field of a type that holds no other value.
  @inline(__always)
  func scalar<Known: RecordScalar>(_ value: Known, _ key: Key) throws {
    let content = try unsafe handle.beginField(key.stringValue)
    unsafe value.append(to: &content.pointee.writer)
    unsafe content.pointee.endEntry()
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
    let frame = try handle.openFrame()
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
    let frame = handle.frameOrRefusal
    do {
      try frame.beginField(key)
      return frame.nest(slot: .required)
    } catch {
      return frame.refuse(error)
    }
  }
}
