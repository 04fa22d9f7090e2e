import PandoModels
import PandoSystem

/// An entity with its rank in natural order.
package struct RankedEntity<E: Queryable>: Sendable {
  /// The identifier of the node.
  package let identifier: ByteString
  package let entity: E
  /// Increases in natural order.
  package let rank: UInt64

  package init(_ entity: E, rank: UInt64) {
    identifier = ByteString(entity.modelIdentifier ?? "")
    self.entity = entity
    self.rank = rank
  }
}

/// The entities of a result that shares them with earlier and later results; arrays of them are made when first asked for.
final class SharedEntities<E: Queryable>: Sendable {
  let rows: ChunkedArray<RankedEntity<E>>
  private let made = Locked<[E]?>(nil)

  init(_ rows: ChunkedArray<RankedEntity<E>>) { self.rows = rows }

  var elements: [E] {
    if let made = made.withLock({ $0 }) { return made }
    let elements = rows.elements(in: 0..<rows.count) { $0.entity }
    made.withLock { $0 = elements }
    return elements
  }

  /// The parts in which the entities differ from others.
  func parts(since former: SharedEntities) -> [ListReplacement<E>] {
    rows.changedParts(since: former.rows).map { part in
      ListReplacement(
        oldStart: part.old.lowerBound, former.rows.elements(in: part.old) { $0.entity },
        newStart: part.new.lowerBound, rows.elements(in: part.new) { $0.entity })
    }
  }
}
