import PandoModels
import PandoStore
import PandoSystem

/// The entities that meet the `.has` conditions of a followed query.
///
/// ```
/// touched models ─► their parts ─► counts of the entities that they name ─► entities that begin or cease to meet a condition
/// ```
/// It has the state of one commit. The pipeline applies each later commit.
final class FollowedConditions<E: Queryable>: Sendable {
  private let query: Query<E>
  private let namespace = ByteString(E.nodeNamespace ?? "")
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
    var concerned = Set(touched.filter { $0.isIdentifier(of: namespace) })
    for counts in counts { concerned.formUnion(try counts.advance(by: touched, in: snapshot)) }
    return concerned.ordered()
  }

  /// Plans to apply a write from its models; changes nothing.
  ///
  /// - Parameters:
  ///   - nodes: The touched nodes, as for ``advance(by:in:)``.
  ///   - touched: The models of the write.
  ///   - store: The store, for entities that the write has not touched.
  /// - Returns: The plan; `nil` if a snapshot has to be read.
  func plan(
    _ nodes: [ByteString], _ touched: TouchedNodes, _ store: ModelStore
  ) -> ConditionsPlan? {
    var plan = ConditionsPlan()
    for counts in counts {
      guard let changes = counts.plan(nodes, touched, store) else { return nil }
      plan.counts.append(changes)
    }
    let moved = plan.counts.reduce(into: Set<ByteString>()) { $0.formUnion($1.moved.keys) }
    if !moved.isEmpty { plan.others = moved.subtracting(nodes).ordered() }
    plan.own = nodes.filter { $0.isIdentifier(of: namespace) }
    return plan.others.count > ConditionsPlan.othersMaximum ? nil : plan
  }

  /// Whether an entity meets each of the conditions, after a planned write.
  func answers(for identifier: ByteString, after plan: ConditionsPlan? = nil) -> [Bool] {
    counts.indices.map { index in
      plan?.counts[index].moved[identifier] ?? counts[index].isMet(by: identifier)
    }
  }

  /// Whether an entity belongs to the query, after a planned write.
  func accept(_ entity: E, _ identifier: ByteString, after plan: ConditionsPlan? = nil) -> Bool {
    query.answering(answers(for: identifier, after: plan)).filter.accepts(entity)
  }
}

/// The changes of ``FollowedConditions`` by a write.
struct ConditionsPlan: Sendable {
  /// The changes of the counts, by condition.
  fileprivate var counts: [CountsPlan] = []
  /// The touched nodes that may be entities of the query.
  fileprivate(set) var own: [ByteString] = []
  /// The other entities that begin or cease to meet a condition.
  fileprivate(set) var others: [ByteString] = []

  /// A write that moves more entities is read from a snapshot, with other commits.
  fileprivate static var othersMaximum: Int { 16 }

  /// Whether the write touches no entity and changes no count.
  var isEmpty: Bool { own.isEmpty && !changesCounts }

  /// Whether the write changes a count.
  var changesCounts: Bool { counts.contains { $0.apply != nil } }

  /// Applies the changes to the conditions; a second call has no effect.
  func apply(_ run: inout FollowingRun) {
    run.tally.reads += others.count
    for changes in counts { changes.apply?(&run) }
  }
}

/// The changes of the counts for one condition.
private struct CountsPlan: Sendable {
  /// The entities that begin (`true`) or cease to meet the condition.
  var moved: [ByteString: Bool] = [:]
  /// Applies the changes; `nil` if no count changes.
  var apply: (@Sendable (inout FollowingRun) -> Void)?
}

/// The number of models that name each entity, for one condition.
private protocol ModelCounts: Sendable {
  /// Whether an entity meets the condition.
  func isMet(by identifier: ByteString) -> Bool

  /// Applies commits.
  ///
  /// - Returns: The entities that begin or cease to meet the condition.
  func advance(by touched: [ByteString], in snapshot: ModelSnapshot) throws -> Set<ByteString>

  /// Plans to apply a write from its models; changes nothing.
  ///
  /// - Returns: The plan; `nil` if a snapshot has to be read.
  func plan(_ nodes: [ByteString], _ touched: TouchedNodes, _ store: ModelStore) -> CountsPlan?
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

  func plan(
    _ nodes: [ByteString], _ touched: TouchedNodes, _ store: ModelStore
  ) -> CountsPlan? {
    guard let read = reader.plan(nodes, touched, store) else { return nil }
    let (parts, differences) = table.differences(of: read.parts)
    var plan = CountsPlan()
    if parts.isEmpty, read.conditions?.changesCounts != true { return plan }
    for (group, difference) in differences {
      guard let name = group.identifier.map({ ByteString($0) }) else { continue }
      guard let count = try? condition.related.answer(table.tally(of: group)) else { return nil }
      let isMet = condition.isMet(by: count + difference)
      if isMet != self.isMet(by: name) { plan.moved[name] = isMet }
    }
    plan.apply = { [moved = plan.moved] run in
      read.conditions?.apply(&run)
      _ = self.table.show(parts)
      self.found.withLock { found in
        for (name, isMet) in moved {
          if isMet { found.insert(name) } else { found.remove(name) }
        }
      }
      if InternalChecks.areOn { self.checkInvariants() }
    }
    return plan
  }

  /// Stops the process if other entities are kept than those that meet the condition by the counts.
  ///
  /// - Complexity: O(*n*) for *n* entities with a count.
  private func checkInvariants() {
    let counted = try? condition.identifiers(in: table.tally)
    precondition(
      counted.map { Set($0.map { ByteString($0) }) } == found.withLock { $0 },
      "the entities that meet a condition are not those of its counts")
  }
}
