import Synchronization

extension FieldIndex {
  /// The container of the present map, the one that the memory served last if it can be.
  ///
  /// Containers are objects, and to make one takes as long as to read a few fields. One that nobody else
  /// has any more serves the next map too: ``retire()`` then leaves the ticket as it is.
  ///
  /// - Parameters:
  ///   - map: A reader with the present ticket, which goes nowhere else.
  ///   - type: The type of the keys.
  /// - Returns: The container.
  mutating func container<Key: CodingKey>(
    _ map: FieldReader, keyedBy type: Key.Type
  ) -> KeyedDecodingContainer<Key> {
    if let container = unsafe keptContainer, unsafe keptKeys == ObjectIdentifier(type) {
      unsafe isKeptInUse = true
      unsafe readerCount -= 1
      // Made below for the same type of keys.
      return unsafe unsafeBitCast(container, to: KeyedDecodingContainer<Key>.self)
    }
    let made = KeyedDecodingContainer(KeyedRecordDecoder<Key>(map: map))
    // A container is a reference to one object and nothing else; if that changed, none is kept.
    guard unsafe !isKeptInUse,
      MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<AnyObject>.size
    else { return made }
    unsafe keptContainer = unsafe unsafeBitCast(made, to: AnyObject.self)
    unsafe keptKeys = ObjectIdentifier(type)
    unsafe isKeptInUse = true
    unsafe readerCount -= 1
    return made
  }

  /// Makes the readers with the present ticket refuse, unless the only one is that of a container that
  /// nobody else has.
  mutating func endTicket() {
    let isKept =
      unsafe readerCount == 0 && isKeptInUse && isKnownUniquelyReferenced(&keptContainer)
    unsafe isKeptInUse = false
    unsafe readerCount = 0
    if isKept { return }
    unsafe keptContainer = nil
    unsafe ticket.store(ticket.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }
}
