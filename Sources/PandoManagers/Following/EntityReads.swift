import PandoModels
import PandoStore

/// The entities that commits touched, each read once for all views.
struct EntityReads {
  private final class Table<E: Queryable> {
    var entities: [ByteString: Result<RankedEntity<E>?, any Error>] = [:]
  }

  /// The table of each type.
  private var tables: [ObjectIdentifier: AnyObject] = [:]
  /// The number of reads.
  private(set) var count = 0

  /// An entity with its rank; `nil` if it was removed.
  mutating func entity<E: Queryable>(
    _ identifier: ByteString, as type: E.Type, in snapshot: ModelSnapshot
  ) -> Result<RankedEntity<E>?, any Error> {
    let table = tables[ObjectIdentifier(type)] as? Table<E> ?? Table()
    if let known = table.entities[identifier] { return known }
    count += 1
    let read = Result { try snapshot.ranked(identifier, as: type) }
    table.entities[identifier] = read
    tables[ObjectIdentifier(type)] = table
    return read
  }
}
