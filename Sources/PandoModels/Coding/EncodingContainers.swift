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

/// The types that have a method of their own in the protocol.
extension KeyedRecordEncoder {
  func encode(_ value: Bool, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: String, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Double, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Float, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Int, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int8, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int16, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int32, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int64, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: UInt, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt8, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt16, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt32, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt64, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Int128, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: UInt128, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }
}

/// An absent value is written as null, so that it can be told from a field the type does not know.
extension KeyedRecordEncoder {
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int128?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }
}

/// Writes the elements of a value into its frame.
struct UnkeyedRecordEncoder: UnkeyedEncodingContainer {
  let frame: EncodingFrame

  var codingPath: [any CodingKey] { frame.codingPath }

  var count: Int { unsafe frame.entries.count }

  func encodeNil() throws {
    try frame.beginElement()
    unsafe frame.writer.appendNull()
    frame.endEntry()
  }

  func encode<Value: Encodable>(_ value: Value) throws {
    try frame.beginElement()
    let (edgeCount, referenceCount) = unsafe (frame.edges.count, frame.referenceCount)
    do {
      if unsafe try frame.encode(value, slot: .element, level: frame.level) == .written {
        frame.endEntry()
      } else {
        frame.cancelEntry()
      }
    } catch {
      frame.cancelEntry()
      unsafe frame.edges.removeSubrange(edgeCount...)
      unsafe frame.referenceCount = referenceCount
      throw ModelError.located(error, inside: "[\(count)]")
    }
  }

  func encodeConditional<Value: AnyObject & Encodable>(_ value: Value) throws {
    try encode(value)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    nest().container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nest().unkeyedContainer() }

  func superEncoder() -> any Encoder { nest() }

  private func nest() -> EncodingFrame {
    do {
      try frame.beginElement()
      return frame.nest(slot: .element)
    } catch {
      return frame.refuse(error)
    }
  }
}

/// The types that have a method of their own in the protocol.
extension UnkeyedRecordEncoder {
  func encode(_ value: Bool) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: String) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Double) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Float) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Int) throws {
    try frame.beginElement()
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int8) throws {
    try frame.beginElement()
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int16) throws {
    try frame.beginElement()
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int32) throws {
    try frame.beginElement()
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int64) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: UInt) throws {
    try frame.beginElement()
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt8) throws {
    try frame.beginElement()
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt16) throws {
    try frame.beginElement()
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt32) throws {
    try frame.beginElement()
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt64) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Int128) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: UInt128) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }
}

/// Writes the one value that a value consists of.
struct SingleRecordEncoder: SingleValueEncodingContainer {
  let frame: EncodingFrame

  var codingPath: [any CodingKey] { frame.codingPath }

  func encodeNil() throws {
    try begin()
    unsafe frame.writer.appendNull()
  }

  func encode<Value: Encodable>(_ value: Value) throws {
    try begin()
    do {
      // The place of the inner value is that of the outer one.
      let outcome = unsafe try frame.encode(value, slot: frame.slot, level: frame.level)
      if outcome == .lost { unsafe frame.isLost = true }
    } catch {
      reset()
      throw error
    }
  }

  /// Begins the value; of several the last one counts.
  func begin() throws {
    try frame.use(.single)
    reset()
  }

  private func reset() {
    unsafe frame.writer.truncate(to: 0)
    unsafe frame.edges.removeAll()
    unsafe frame.referenceCount = 0
  }
}

/// The types that have a method of their own in the protocol.
extension SingleRecordEncoder {
  func encode(_ value: Bool) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: String) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: Double) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: Float) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: Int) throws {
    try begin()
    unsafe frame.writer.append(Int64(value))
  }

  func encode(_ value: Int8) throws {
    try begin()
    unsafe frame.writer.append(Int64(value))
  }

  func encode(_ value: Int16) throws {
    try begin()
    unsafe frame.writer.append(Int64(value))
  }

  func encode(_ value: Int32) throws {
    try begin()
    unsafe frame.writer.append(Int64(value))
  }

  func encode(_ value: Int64) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: UInt) throws {
    try begin()
    unsafe frame.writer.append(UInt64(value))
  }

  func encode(_ value: UInt8) throws {
    try begin()
    unsafe frame.writer.append(UInt64(value))
  }

  func encode(_ value: UInt16) throws {
    try begin()
    unsafe frame.writer.append(UInt64(value))
  }

  func encode(_ value: UInt32) throws {
    try begin()
    unsafe frame.writer.append(UInt64(value))
  }

  func encode(_ value: UInt64) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: Int128) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: UInt128) throws {
    try begin()
    unsafe frame.writer.append(value)
  }
}
