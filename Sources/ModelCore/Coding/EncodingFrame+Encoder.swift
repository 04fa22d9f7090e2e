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
    // A container is a reference to one object and nothing else; if that changed, none is kept.
    guard unsafe isOpen, unsafe keptContainer == nil,
      MemoryLayout<KeyedEncodingContainer<Key>>.size == MemoryLayout<AnyObject>.size
    else {
      let handle = EncodingHandle(owner: self)
      return KeyedEncodingContainer(KeyedRecordEncoder<Key>(handle: handle))
    }
    if let kept = unsafe session.takeContainer(keyedBy: ObjectIdentifier(type)) {
      kept.handle.open(self)
      unsafe keptContainer = kept
      // Made below for the same type of keys.
      return unsafe unsafeBitCast(kept.container, to: KeyedEncodingContainer<Key>.self)
    }
    let handle = EncodingHandle()
    handle.open(self)
    let made = KeyedEncodingContainer(KeyedRecordEncoder<Key>(handle: handle))
    unsafe keptContainer = KeptEncodingContainer(
      keys: ObjectIdentifier(type), container: unsafeBitCast(made, to: AnyObject.self),
      handle: handle)
    return made
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    claim(.array)
    return UnkeyedRecordEncoder(frame: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleRecordEncoder(frame: self)
  }
}
