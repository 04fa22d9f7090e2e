package import PandoModels
package import PandoSystem

/// A row of a followed result.
///
/// Not generic, because the compiler specializes no code for it otherwise. An object, because versions of a result copy
/// parts of hundreds of rows.
package final class ResultRow: Sendable {
  private final class Box<E: Queryable>: Sendable {
    let entity: E
    init(_ entity: E) { self.entity = entity }
  }

  /// The identifier of the node.
  package let identifier: ByteString
  /// Increases in natural order.
  package let rank: UInt64
  /// The values in the fields of the order.
  package let values: [QueryValue]
  /// The box of the entity; `nil` in a result of which only the order is kept.
  private let box: (any AnyObject & Sendable)?

  package init<E: Queryable>(
    _ identifier: ByteString, rank: UInt64, values: [QueryValue], _ entity: E?
  ) {
    (self.identifier, self.rank, self.values) = (identifier, rank, values)
    box = entity.map { Box($0) }
  }

  /// The entity; `nil` if the row does not have it.
  package func entity<E: Queryable>(as type: E.Type) -> E? { (box as? Box<E>)?.entity }

  /// Whether another row has an equal entity, with the same bytes in the texts of its fields.
  package func hasEqualEntity<E: Queryable>(_ other: ResultRow, as type: E.Type) -> Bool {
    guard let one = entity(as: type), let other = other.entity(as: type) else { return false }
    return one.isSame(as: other)
  }
}

extension Queryable {
  /// Whether another entity is equal, with the same bytes in the texts of its fields.
  package func isSame(as other: Self) -> Bool {
    self == other
      && Self.fields.allSatisfy { !$0.value(of: self).differs(from: $0.value(of: other)) }
  }
}

/// The rows of a result that shares them with earlier and later results; an array of the entities is made when first asked for.
final class ResultRows<E: Queryable>: Sendable {
  let rows: ChunkedArray<ResultRow>
  private let made = Locked<[E]?>(nil)

  init(_ rows: ChunkedArray<ResultRow>) { self.rows = rows }

  var entities: [E] {
    if let made = made.withLock({ $0 }) { return made }
    let entities = rows.entities(in: 0..<rows.count, as: E.self)
    made.withLock { $0 = entities }
    return entities
  }

  /// The parts in which the entities differ from others.
  func parts(since former: ResultRows) -> [ListReplacement<E>] {
    rows.changedParts(since: former.rows).map { part in
      ListReplacement(
        oldStart: part.old.lowerBound, former.rows.entities(in: part.old, as: E.self),
        newStart: part.new.lowerBound, rows.entities(in: part.new, as: E.self))
    }
  }
}

extension ChunkedArray<ResultRow> {
  /// The entities in a range of positions.
  package func entities<E: Queryable>(in range: Range<Int>, as type: E.Type) -> [E] {
    elements(in: range) { $0.entity(as: type) }.compactMap(\.self)
  }
}

extension ValueOrder {
  /// The place of a row among others: its own, or the one that a new row takes.
  ///
  /// - Complexity: O(log *n*) for *n* rows.
  package func place(
    of row: ResultRow, in rows: ChunkedArray<ResultRow>
  ) -> ChunkedArray<ResultRow>.Index {
    rows.partitioningIndex { other in
      if areInOrder(other.values, row.values) { return false }
      return other.rank >= row.rank || areInOrder(row.values, other.values)
    }
  }
}
