package import PandoModels

/// What an update carries, by identifier, in the order in which the identifiers came.
///
/// Nearly all updates carry one identifier or two: those are looked through, which costs less than a
/// hash of the identifier that is looked for.
package struct VersionTable: Sendable, Sequence {
  /// How many identifiers are looked through; of more there is an index.
  private static let searchedCountMaximum = 4

  private var entries: [(key: ByteString, value: LiveUpdate.Versions)] = []
  private var index: [ByteString: Int] = [:]

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }
  /// The identifiers, in order.
  package var keys: [ByteString] { entries.map(\.key) }

  /// Where an identifier stands in the order; `nil` if the update does not carry it.
  func position(of key: ByteString) -> Int? {
    if entries.count > Self.searchedCountMaximum { return index[key] }
    for position in entries.indices where entries[position].key == key { return position }
    return nil
  }

  /// The identifier at a place in the order.
  func key(at position: Int) -> ByteString { entries[position].key }

  /// The models at a place in the order.
  subscript(position position: Int) -> LiveUpdate.Versions {
    get { entries[position].value }
    _modify { yield &entries[position].value }
  }

  package subscript(key: ByteString) -> LiveUpdate.Versions? {
    position(of: key).map { entries[$0].value }
  }

  /// Adds an identifier that the update does not carry yet.
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
