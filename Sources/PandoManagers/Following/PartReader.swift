import PandoModels
import PandoStore
import PandoSystem

/// Reads the parts of entities in a followed answer.
///
/// If the query has conditions on other models, the reader has the state of one commit, as ``FollowedConditions``.
final class PartReader<E: Queryable>: Sendable {
  private let query: Query<E>
  private let namespace = ByteString(E.nodeNamespace ?? "")
  private let conditions: FollowedConditions<E>?
  /// The parts of entities for one of the answers to the conditions.
  private let plain: AnswerParts<E>
  private let make: @Sendable (Query<E>, ModelSnapshot) throws -> AnswerParts<E>
  /// The parts by the answers to the conditions.
  private let parts = Locked<[[Bool]: AnswerParts<E>]>([:])

  /// Prepares the parts.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - query: A valid query without a window.
  ///   - snapshot: The store.
  /// - Throws: As `ModelSnapshot.answer(_:to:)`.
  init<Answer>(
    _ question: Question<E, Answer>, of query: Query<E>, _ snapshot: ModelSnapshot
  ) throws {
    self.query = query
    conditions = try FollowedConditions(query, snapshot)
    make = { try AnswerParts(question, of: $0, $1) }
    // An empty identifier is no node.
    let answers = conditions?.answers(for: ByteString("")) ?? []
    plain = try make(query.answering(answers), snapshot)
  }

  /// Reads the parts of all entities.
  ///
  /// - Parameters:
  ///   - snapshot: The store.
  ///   - tracksGroups: Whether the table records which groups of a grouped question have changed.
  /// - Returns: The parts.
  /// - Throws: As `ModelSnapshot.answer(_:to:)`.
  func table(in snapshot: ModelSnapshot, tracksGroups: Bool) throws -> PartTable {
    let all = try conditions == nil ? plain : make(snapshot.resolved(query), snapshot)
    let table = PartTable(all.measure)
    try all.forEach(in: snapshot) { table.insert($0, $1) }
    if tracksGroups { table.trackGroups() }
    return table
  }

  /// Applies commits.
  ///
  /// - Parameters:
  ///   - touched: The touched nodes, among them all that affect the answer.
  ///   - snapshot: The store after the commits.
  /// - Returns: The parts that may have changed.
  /// - Throws: As `ModelSnapshot.answer(_:to:)`.
  func advance(by touched: [ByteString], in snapshot: ModelSnapshot) throws -> [PartTable.Part] {
    let nodes =
      try conditions?.advance(by: touched, in: snapshot)
      ?? touched.filter { $0.isIdentifier(of: namespace) }
    return try nodes.map { node in
      let parts = try conditions.map { try self.parts($0.answers(for: node), snapshot) } ?? plain
      return (node, try parts.part(of: node, in: snapshot))
    }
  }

  /// Plans to apply a write from its models; changes nothing.
  ///
  /// - Parameters:
  ///   - nodes: The touched nodes, among them all that affect the answer.
  ///   - touched: The models of the write.
  ///   - store: The store, for entities that the write has not touched.
  /// - Returns: The plan; `nil` if a snapshot has to be read.
  func plan(
    _ nodes: [ByteString], _ touched: TouchedNodes, _ store: ModelStore
  ) -> PartsPlan? {
    var plan = PartsPlan(conditions: nil)
    if let conditions {
      plan.conditions = conditions.plan(nodes, touched, store)
      if plan.conditions == nil { return nil }
    }
    for node in nodes where node.isIdentifier(of: namespace) {
      guard let entity = touched.entity(node, as: E.self) else { return nil }
      plan.parts.append((node, entity.flatMap { part(of: $0, node, after: plan.conditions) }))
    }
    for node in plan.conditions?.others ?? [] {
      guard let read = touched.untouched(node, as: E.self, in: store) else { return nil }
      plan.parts.append((node, read.flatMap { part(of: $0.entity, node, after: plan.conditions) }))
    }
    return plan
  }

  /// The part of an entity after a write; `nil` if it does not belong to the query.
  private func part(
    of entity: E, _ node: ByteString, after plan: ConditionsPlan?
  ) -> [QueryValue]? {
    let isAccepted =
      conditions?.accept(entity, node, after: plan) ?? query.filter.accepts(entity)
    return isAccepted ? plain.values(of: entity) : nil
  }

  /// The parts of entities with these answers to the conditions.
  private func parts(_ answers: [Bool], _ snapshot: ModelSnapshot) throws -> AnswerParts<E> {
    if let known = parts.withLock({ $0[answers] }) { return known }
    let new = try make(query.answering(answers), snapshot)
    parts.withLock { $0[answers] = new }
    return new
  }
}

/// The changes of a ``PartReader`` by a write.
struct PartsPlan: Sendable {
  /// The parts that may change.
  var parts: [PartTable.Part] = []
  /// The changes of the conditions on other models; `nil` without such conditions.
  var conditions: ConditionsPlan?

  /// Whether the write changes nothing.
  var isEmpty: Bool { parts.isEmpty && conditions?.changesCounts != true }
}
