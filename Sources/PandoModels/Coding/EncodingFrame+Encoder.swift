extension EncodingFrame: Encoder {
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The keys to this value; elements of lists and maps that this module encodes itself are left out.
  var codingPath: [any CodingKey] {
    guard let parent = unsafe parent else { return [] }
    return unsafe parent.codingPath + parent.codingPathComponent(at: indexInParent)
  }

  private func codingPathComponent(at index: Int) -> [any CodingKey] {
    guard unsafe index >= 0 && index < entries.count else { return [] }
    let entry = unsafe entries[index]
    guard entry.value > entry.start else { return [RecordCodingKey(index: index)] }
    // A key is a text written by `beginField`.
    var reader = unsafe CBORReader(
      UnsafeRawBufferPointer(rebasing: writer.buffer[entry.start..<entry.value]))
    return (try? reader.text()).map { [RecordCodingKey($0)] } ?? []
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    claim(.map)
    return KeyedEncodingContainer(KeyedRecordEncoder<Key>(frame: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    claim(.array)
    return UnkeyedRecordEncoder(frame: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleRecordEncoder(frame: self)
  }
}
