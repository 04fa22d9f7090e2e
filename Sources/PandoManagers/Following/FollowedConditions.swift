import PandoModels
import PandoStore
import PandoSystem

/// The entities that meet the `.has` conditions of a followed query.
///
/// ```
/// touched models ─► their parts ─► counts of the entities that they name ─► entities that begin or cease to meet a condition
/// ```
/// It has the state of one commit. The pipeline applies each later commit.
struct FollowedConditions<E: Queryable>: Sendable {
  private let query: Query<E>
  private let counts: [any ModelCounts]

  /// Counts the models of all conditions; `nil` without a condition.
  ///
  /// - Parameters:
  ///   - query: A valid query.
  ///   - snapshot: The store.
  /// - Throws: As `ModelSnapshot.answer(_:to:)`.
  init?(_ query: Query<E>, _ snapshot: ModelSnapshot) throws {
    guard let conditions = query.countedConditions, !conditions.isEmpty else { return nil }
    self.query = query
    counts = try conditions.map { try $0.counts(in: snapshot) }
  }

  /// Applies commits.
  ///
  /// - Parameters:
  ///   - touched: The touched nodes, among them all models that a condition counts.
  ///   - snapshot: The store after the commits.
  /// - Returns: The touched nodes that may be entities of the query, and the entities that begin or cease to meet a
  ///   condition; each once, in order.
  /// - Throws: As `ModelSnapshot.answer(_:to:)`.
  func advance(by touched: [ByteString], in snapshot: ModelSnapshot) throws -> [ByteString] {
    let namespace = ByteString(E.nodeNamespace ?? "")
    var concerned = Set(touched.filter { $0.isIdentifier(of: namespace) })
    for counts in counts { concerned.formUnion(try counts.advance(by: touched, in: snapshot)) }
    return concerned.ordered()
  }

  /// Whether an entity meets each of the conditions.
  func answers(for identifier: ByteString) -> [Bool] { counts.map { $0.isMet(by: identifier) } }

  /// Whether an entity belongs to the query.
  func accept(_ entity: RankedEntity<E>) -> Bool {
    query.answering(answers(for: entity.identifier)).filter.accepts(entity.entity)
  }
}

/// The number of models that name each entity, for one condition.
private protocol ModelCounts: Sendable {
  /// Whether an entity meets the condition.
  func isMet(by identifier: ByteString) -> Bool

  /// Applies commits.
  ///
  /// - Returns: The entities that begin or cease to meet the condition.
  func advance(by touched: [ByteString], in snapshot: ModelSnapshot) throws -> Set<ByteString>
}

extension CountedCondition {
  fileprivate func counts(in snapshot: ModelSnapshot) throws -> any ModelCounts {
    try ConditionCounts(self, snapshot)
  }
}

private final class ConditionCounts<Condition: CountedCondition>: ModelCounts {
  private let condition: Condition
  private let reader: PartReader<Condition.S>
  private let table: PartTable
  private let found: Locked<Set<ByteString>>

  init(_ condition: Condition, _ snapshot: ModelSnapshot) throws {
    self.condition = condition
    reader = try PartReader(condition.related.grouped, of: condition.related.query, snapshot)
    table = try reader.table(in: snapshot, tracksGroups: true)
    found = Locked(Set(try condition.identifiers(in: table.tally).map { ByteString($0) }))
  }

  func isMet(by identifier: ByteString) -> Bool { found.withLock { $0.contains(identifier) } }

  func advance(by touched: [ByteString], in snapshot: ModelSnapshot) throws -> Set<ByteString> {
    let parts = try reader.advance(by: touched, in: snapshot)
    return try found.withLock { found in
      var changed: Set<ByteString> = []
      for group in table.show(parts) {
        guard let name = group.identifier.map({ ByteString($0) }) else { continue }
        let isMet = condition.isMet(by: try condition.related.answer(table.tally(of: group)))
        if isMet != found.contains(name) {
          if isMet { found.insert(name) } else { found.remove(name) }
          changed.insert(name)
        }
      }
      return changed
    }
  }
}
