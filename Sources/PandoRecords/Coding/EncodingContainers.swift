import PandoModels

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

/// The types with a method of their own in the protocol, which are never lost.
extension KeyedRecordEncoder {
  @inline(__always)
  func encode<Known: RecordScalar & Encodable>(_ value: Known, forKey key: Key) throws {
    try encode(value, key)
  }

  @inline(__always)
  private func encode<Known: RecordScalar>(_ value: Known, _ key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe value.append(to: &frame.writer)
    frame.endEntry()
  }

  /// An absent value is written as null, to distinguish it from a field that the type does not
  /// have.
  @inline(__always)
  private func encode<Known: RecordScalar>(_ value: Known?, _ key: Key) throws {
    if let value { try encode(value, key) } else { try encodeNil(forKey: key) }
  }

  // The protocol has defaults for these types, which would take precedence over generic methods.

  func encode(_ value: Int128, forKey key: Key) throws { try encode(value, key) }
  func encode(_ value: UInt128, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try encode(value, key) }
  func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try encode(value, key) }
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

/// The types with a method of their own in the protocol, which are never lost.
extension UnkeyedRecordEncoder {
  @inline(__always)
  func encode<Known: RecordScalar & Encodable>(_ value: Known) throws { try write(value) }

  @inline(__always)
  private func write<Known: RecordScalar>(_ value: Known) throws {
    try frame.beginElement()
    unsafe value.append(to: &frame.writer)
    frame.endEntry()
  }

  // The protocol has defaults for these, which would take precedence over a generic method.
  func encode(_ value: Int128) throws { try write(value) }
  func encode(_ value: UInt128) throws { try write(value) }
}

/// Writes the single value of a value.
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
      // The inner value has the place of the outer one.
      let outcome = unsafe try frame.encode(value, slot: frame.slot, level: frame.level)
      if outcome == .lost { unsafe frame.isLost = true }
    } catch {
      reset()
      throw error
    }
  }

  /// Begins the value; of several, the last one counts.
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

/// The types with a method of their own in the protocol, which are never lost.
extension SingleRecordEncoder {
  @inline(__always)
  func encode<Known: RecordScalar & Encodable>(_ value: Known) throws { try write(value) }

  @inline(__always)
  private func write<Known: RecordScalar>(_ value: Known) throws {
    try begin()
    unsafe value.append(to: &frame.writer)
  }

  // The protocol has defaults for these, which would take precedence over a generic method.
  func encode(_ value: Int128) throws { try write(value) }
  func encode(_ value: UInt128) throws { try write(value) }
}
