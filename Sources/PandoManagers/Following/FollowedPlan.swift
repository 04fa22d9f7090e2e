/// How commits find a followed query, and what it keeps.
///
/// ```swift
/// let open = store.follow(Query(filter: \Issue.state == .open, order: [.descending(\.created)], limit: 20))
/// print(open.plan)  // Issue: found by a value of state; keeps at most 40 entities
/// ```
/// A commit costs nothing for the followed queries that it does not find, however many they are. Only for each query
/// with `.has` or `.held(by:)` it compares the types of the changed nodes. A change of an entity that a query keeps
/// always finds it.
public struct FollowedPlan: Sendable, Hashable, CustomStringConvertible {
  /// The property of a changed entity that finds the query, if the query does not keep the entity.
  ///
  /// ```swift
  /// if case .type = query.plan.finding { print("each change of the type is compared with the filter") }
  /// ```
  public enum Finding: Sendable, Hashable {
    /// One of the named identifiers.
    case identifiers(count: Int)
    /// A value of one of these fields that the filter asks for: by `==`, `.isIn`, or `||` of these.
    case values(fields: [String])
    /// A value of one of these fields in a range that the filter asks for.
    ///
    /// A query that has more than 10 000 entities when it is read is found by each change of its type instead.
    case ranges(fields: [String])
    /// A value of the first field of the order that is not behind the last kept entity.
    ///
    /// A query that keeps all its matches is found by the ranges of its filter or by its type instead. It keeps all while
    /// they are fewer than ``FollowedPlan/keptMaximum``.
    case order(field: String)
    /// Each changed entity of the type.
    case type
    /// Each changed node of these namespaces, because the filter depends on other models than the entity.
    case nodes(of: [String])
    /// Each changed node, because the result depends on other rows of the store: the parents of an entity, its
    /// synchronization state, or its relevance.
    case anyNode
  }

  /// The type of the entities.
  public let typeName: String
  /// The property of a changed entity that finds the query.
  public let finding: Finding
  /// The largest number of entities that it keeps: those before the offset, the shown ones and a reserve.
  ///
  /// `nil` if it keeps all matches.
  public let keptMaximum: Int?
  /// Whether it reads its result from the store again when an entity enters, leaves or moves.
  ///
  /// True with named identifiers, with `uniqueBy`, and if the result depends on other rows of the store than the models
  /// that `Filter.has` counts. Any other query reads again only if the reserve of its limit has run out.
  public let readsAgain: Bool

  init<E>(_ followed: AcceptedQuery<E>) {
    typeName = E.modelTypeName
    keptMaximum = followed.capacity
    readsAgain = followed.needsStore && !followed.countsModels || !followed.ordersByChange
    finding =
      if followed.needsStore {
        followed.namespaces.map { .nodes(of: $0.map(\.text).sorted()) } ?? .anyNode
      } else {
        switch followed.key {
        case .identifiers(let identifiers): .identifiers(count: identifiers.count)
        case .values(let conditions):
          conditions.contains(where: \.arePoints)
            ? .values(fields: Self.fields(of: conditions.filter(\.arePoints)))
            : .ranges(fields: Self.fields(of: conditions))
        case .order(let order, _): .order(field: order.field)
        case .type: .type
        }
      }
  }

  private static func fields(of conditions: [FieldCondition]) -> [String] {
    Set(conditions.flatMap { $0.ranges.map(\.field) }).sorted()
  }

  /// One line for people.
  public var description: String {
    "\(typeName): found by \(finding); keeps "
      + (keptMaximum.map { "at most \($0) entities" } ?? "all matches")
      + (readsAgain ? "; reads its result again after a change" : "")
  }
}

extension FollowedPlan.Finding: CustomStringConvertible {
  /// The words for people.
  public var description: String {
    switch self {
    case .identifiers(1): "an identifier"
    case .identifiers(let count): "\(count) identifiers"
    case .values(let fields): "a value of \(fields.joined(separator: " or "))"
    case .ranges(let fields): "a range of \(fields.joined(separator: " or "))"
    case .order(let field): "a value of \(field) that is not behind the last"
    case .type: "each change of the type"
    case .nodes(let namespaces): "each change of a node of \(namespaces.joined(separator: " or "))"
    case .anyNode: "each change of any node"
    }
  }
}

/// A followed query that keeps many models.
///
/// ```swift
/// events: { event in if let long = event.error as? LongResult { metrics.record(long.count, event.typeName) } }
/// ```
public struct LongResult: Error, Sendable, CustomStringConvertible {
  /// The number of models that it kept when it was reported.
  public let count: Int
  /// How changes find the query, and what it keeps.
  public let plan: FollowedPlan

  /// One line for people.
  public var description: String {
    "a followed query keeps \(count) models: \(plan); a limit, or following its keys, keeps fewer"
  }
}
