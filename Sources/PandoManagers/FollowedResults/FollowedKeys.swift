public import PandoModels
public import PandoStore
import PandoSystem

/// The keys of a followed query's result.
///
/// ```swift
/// for try await step in store.follow(Query<Book>(order: [.ascending(\.title)])).keys {
///   let page = Query(filter: .keys(step.keys(in: 0..<20)), order: [.ascending(\Book.title)])
///   show(try await store.find(page).entities, of: step.count)
/// }
/// ```
public struct FollowedKeys<E: Queryable>: Sendable {
  private let rows: ChunkedArray<ResultRow>

  /// The change from the observer's last element to this one; `reset` in the first one.
  ///
  /// It has no updates: an entity that changes and keeps its place changes no key.
  public let change: CollectionChange

  /// The newest commit that was shown with the last change of the keys, as ``FollowedChange/commit``.
  public let commit: CommitNumber?

  init(_ rows: ChunkedArray<ResultRow>, _ former: FollowedKeys?, _ commit: CommitNumber?) {
    self.rows = rows
    self.commit = commit
    change =
      former.map { former in
        .difference(
          in: rows.changedParts(since: former.rows).map { part in
            ListReplacement(
              oldStart: part.old.lowerBound, former.rows.elements(in: part.old) { KeyRow($0) },
              newStart: part.new.lowerBound, rows.elements(in: part.new) { KeyRow($0) })
          })
      } ?? .reset
  }

  /// The number of entities.
  public var count: Int { rows.count }

  /// The keys in a range of positions.
  ///
  /// - Parameter range: The positions, counted from 0; those beyond the end are left out.
  /// - Returns: The keys, in order.
  /// - Complexity: O(*n* / 100 + *k*) for *k* of *n* keys.
  public func keys(in range: Range<Int>) -> [Key<E>] {
    rows.elements(in: range.clamped(to: 0..<count)) { Key(rawValue: $0.identifier.text) }
  }

  /// All keys, in order.
  ///
  /// - Complexity: O(*n*).
  public var keys: [Key<E>] { keys(in: 0..<count) }
}

/// A row as a list compares it: by identifier.
private struct KeyRow: SimpleModel {
  let modelIdentifier: String?

  init(_ row: ResultRow) { modelIdentifier = row.identifier.text }

  func isEqual(to other: any SimpleModel) -> Bool { modelIdentifier == other.modelIdentifier }
}
