import PandoModels
import PandoStore
import PandoSystem

/// Reads the parts of entities in a followed answer.
///
/// If the query has conditions on other models, the reader has the state of one commit, as ``FollowedConditions``.
final class PartReader<E: Queryable>: Sendable {
  private let query: Query<E>
  private let conditions: FollowedConditions<E>?
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
  }

  /// Reads the parts of all entities.
  ///
  /// - Parameters:
  ///   - snapshot: The store.
  ///   - tracksGroups: Whether the table records which groups of a grouped question have changed.
  /// - Returns: The parts.
  /// - Throws: As `ModelSnapshot.answer(_:to:)`.
  func table(in snapshot: ModelSnapshot, tracksGroups: Bool) throws -> PartTable {
    let all = try conditions == nil ? parts([], snapshot) : make(snapshot.resolved(query), snapshot)
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
    let namespace = ByteString(E.nodeNamespace ?? "")
    let nodes =
      try conditions?.advance(by: touched, in: snapshot)
      ?? touched.filter { $0.isIdentifier(of: namespace) }
    return try nodes.map { node in
      let answers = conditions?.answers(for: node) ?? []
      return (node, try parts(answers, snapshot).part(of: node, in: snapshot))
    }
  }

  /// Returns the part of an entity, for a query without conditions on other models; `nil` if it does not belong to it.
  func part(of entity: E) -> [QueryValue]? { parts.withLock { $0[[]] }?.part(of: entity) }

  /// The parts of entities with these answers to the conditions.
  private func parts(_ answers: [Bool], _ snapshot: ModelSnapshot) throws -> AnswerParts<E> {
    if let known = parts.withLock({ $0[answers] }) { return known }
    let new = try make(query.answering(answers), snapshot)
    parts.withLock { $0[answers] = new }
    return new
  }
}
