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

  /// Appends an identifier that the update does not contain yet.
  mutating func append(_ key: ByteString, _ versions: LiveUpdate.Versions) {
    if entries.isEmpty { entries.reserveCapacity(2) }
    entries.append((key, versions))
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
