public import PandoModels
package import PandoSystem

/// The entities of a result, each with its related value.
///
/// ```swift
/// let rows = try store.find(Query<Project>.all, with: .answer(.count, of: open, by: \.project))
/// for (project, count) in rows { print(project.name, count) }
/// print(rows[0].value)
/// ```
/// `value` is a tuple if there are several related values.
public struct RelatedResult<E: Queryable, Value: Sendable>: Sendable {
  private let rows: ChunkedArray<RelatedRow<E, Value>>
  /// The rows of the observer's last element; `nil` without one.
  private let former: ChunkedArray<RelatedRow<E, Value>>?

  /// Makes a result.
  ///
  /// - Parameters:
  ///   - rows: The rows; those that have not changed are the objects of `former`.
  ///   - former: The rows of the observer's last element.
  package init(
    _ rows: ChunkedArray<RelatedRow<E, Value>>, since former: ChunkedArray<RelatedRow<E, Value>>?
  ) {
    (self.rows, self.former) = (rows, former)
  }

  /// The entities, in the order of the query.
  ///
  /// - Complexity: O(*n*).
  public var entities: [E] { rows.map(\.entity) }

  /// The related values, in the order of the entities.
  ///
  /// - Complexity: O(*n*).
  public var values: [Value] { rows.map(\.value) }

  /// The change from the observer's last element to this one.
  ///
  /// An update is an entity or a related value that differs. It is `reset` in the first element of an iteration, and for a
  /// result that is not followed.
  ///
  /// - Complexity: O(*c* + *m* log *m*) for *m* rows in the parts that differ, of *c* parts of a few hundred rows.
  public var change: CollectionChange {
    guard let former else { return .reset }
    return .difference(
      in: rows.changedParts(since: former).map { part in
        ListReplacement(
          oldStart: part.old.lowerBound, former.elements(in: part.old) { ComparedRow($0) },
          newStart: part.new.lowerBound, rows.elements(in: part.new) { ComparedRow($0) })
      })
  }
}

extension RelatedResult: RandomAccessCollection {
  /// 0.
  public var startIndex: Int { 0 }

  /// The number of entities.
  public var endIndex: Int { rows.count }

  /// The entity at a position, and its related value.
  ///
  /// - Parameter position: The position. *Precondition:* it is one of the result.
  /// - Complexity: O(*n* / 100) for *n* entities.
  public subscript(position: Int) -> (entity: E, value: Value) {
    precondition(indices.contains(position), "the result has no row \(position)")
    let row = rows.elements(in: position..<(position + 1)) { $0 }[0]
    return (row.entity, row.value)
  }

  /// Begins an iteration.
  ///
  /// - Returns: The iterator; all steps together cost O(*n*).
  public func makeIterator() -> some IteratorProtocol<(entity: E, value: Value)> {
    rows.lazy.map { ($0.entity, $0.value) }.makeIterator()
  }
}

/// An entity of a result with its related value.
///
/// An object, because versions of a result copy parts of hundreds of rows.
package final class RelatedRow<E: Queryable, Value: Sendable>: Sendable {
  package let entity: E
  package let value: Value

  package init(_ entity: E, _ value: Value) { (self.entity, self.value) = (entity, value) }
}

/// A row as a list compares it: by identifier, and by the object.
private struct ComparedRow<E: Queryable, Value: Sendable>: SimpleModel {
  private let row: RelatedRow<E, Value>

  init(_ row: RelatedRow<E, Value>) { self.row = row }

  var modelIdentifier: String? { row.entity.modelIdentifier }

  func isEqual(to other: any SimpleModel) -> Bool { (other as? ComparedRow)?.row === row }
}
