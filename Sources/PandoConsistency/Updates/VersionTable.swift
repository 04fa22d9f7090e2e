package import PandoModels

/// The models of an update by identifier, in the order of their insertion.
///
/// Most updates have one or two identifiers. A search through them costs less than the hash of an
/// identifier.
package struct VersionTable: Sendable, Sequence {
  /// The maximum count of identifiers that are searched; more of them have an index.
  private static let searchedCountMaximum = 4

  private var entries: [(key: ByteString, value: LiveUpdate.Versions)] = []
  private var index: [ByteString: Int] = [:]

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }
  /// The identifiers, in order.
  package var keys: [ByteString] { entries.map(\.key) }

  /// Returns the position of an identifier; `nil` if the update does not contain it.
  func position(of key: ByteString) -> Int? {
    if entries.count > Self.searchedCountMaximum { return index[key] }
    for position in entries.indices where entries[position].key == key { return position }
    return nil
  }

  func key(at position: Int) -> ByteString { entries[position].key }

  /// The models at a position.
  subscript(position position: Int) -> LiveUpdate.Versions {
    get { entries[position].value }
    _modify { yield &entries[position].value }
  }

  package subscript(key: ByteString) -> LiveUpdate.Versions? {
    position(of: key).map { entries[$0].value }
  }

  /// The models of an identifier, which is added if the update does not contain it.
  package subscript(adding key: ByteString) -> LiveUpdate.Versions {
    get { self[key] ?? LiveUpdate.Versions() }
    _modify {
      let known = position(of: key)
      if known == nil { append(key) }
      yield &entries[known ?? entries.count - 1].value
    }
  }

  /// Appends an identifier that the update does not contain yet.
  private mutating func append(_ key: ByteString) {
    if entries.isEmpty { entries.reserveCapacity(2) }
    entries.append((key, LiveUpdate.Versions()))
    if entries.count == Self.searchedCountMaximum + 1 {
      for position in entries.indices { index[entries[position].key] = position }
    } else if entries.count > Self.searchedCountMaximum {
      index[key] = entries.count - 1
    }
  }

  mutating func removeAll() { self = VersionTable() }

  package func makeIterator() -> IndexingIterator<[(key: ByteString, value: LiveUpdate.Versions)]> {
    entries.makeIterator()
  }
}
