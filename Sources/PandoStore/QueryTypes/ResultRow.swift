package import PandoModels
package import PandoSystem

/// A row of a followed result.
package struct ResultRow<E: Queryable>: Sendable {
  /// The identifier of the node.
  package let identifier: ByteString
  /// Increases in natural order.
  package let rank: UInt64
  /// The values in the fields of the order.
  package let values: [QueryValue]
  /// `nil` in a result of which only the order is kept.
  package let entity: E?

  package init(_ identifier: ByteString, rank: UInt64, values: [QueryValue], _ entity: E?) {
    (self.identifier, self.rank, self.values, self.entity) = (identifier, rank, values, entity)
  }
}

/// The rows of a result that shares them with earlier and later results; an array of the entities is made when first asked for.
final class ResultRows<E: Queryable>: Sendable {
  let rows: ChunkedArray<ResultRow<E>>
  private let made = Locked<[E]?>(nil)

  init(_ rows: ChunkedArray<ResultRow<E>>) { self.rows = rows }

  var entities: [E] {
    if let made = made.withLock({ $0 }) { return made }
    let entities = rows.entities(in: 0..<rows.count)
    made.withLock { $0 = entities }
    return entities
  }

  /// The parts in which the entities differ from others.
  func parts(since former: ResultRows) -> [ListReplacement<E>] {
    rows.changedParts(since: former.rows).map { part in
      ListReplacement(
        oldStart: part.old.lowerBound, former.rows.entities(in: part.old),
        newStart: part.new.lowerBound, rows.entities(in: part.new))
    }
  }
}

extension ChunkedArray {
  /// The entities in a range of positions.
  package func entities<E>(in range: Range<Int>) -> [E] where Element == ResultRow<E> {
    elements(in: range) { $0 }.compactMap(\.entity)
  }
}
