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
