import PandoModels

/// A condition on the number of models that name an entity.
package protocol CountedCondition: StoreCondition {
  associatedtype S: Queryable

  /// The number of models by entity.
  var related: RelatedAnswer<S, Int> { get }

  /// Whether an entity that so many models name meets the condition.
  func isMet(by count: Int) -> Bool
}

extension Query {
  /// The conditions on other models that the result depends on, from left to right, if counts of models answer them all.
  ///
  /// `nil` if the result depends on other rows of the store, or on the order of such models.
  package var countedConditions: [any CountedCondition]? {
    guard namespaces != nil else { return nil }
    var conditions: [any CountedCondition] = []
    for field in filter.tree.fields where field.isStoresOwn {
      guard let condition = field.condition as? any CountedCondition, condition.isCountable else {
        return nil
      }
      conditions.append(condition)
    }
    return conditions
  }

  /// The same query with answers in the place of its ``countedConditions``.
  ///
  /// - Parameter answers: Whether an entity meets each of the conditions.
  /// - Returns: The query.
  package func answering(_ answers: [Bool]) -> Query {
    var query = self
    var number = 0
    query.filter = Filter(
      filter.tree.replacing { field in
        guard field.isStoresOwn else { return nil }
        defer { number += 1 }
        return answers[number] ? .all : .not(.all)
      })
    return query
  }
}

extension CountedCondition {
  /// The entities that meet the condition, by the tally of all models.
  ///
  /// - Parameter tally: The tally of ``RelatedAnswer/grouped``.
  /// - Returns: The identifiers of their nodes.
  /// - Throws: As ``ModelSnapshot/answer(_:to:)``.
  package func identifiers(in tally: Tally) throws -> [String] {
    try tally.groups.compactMap { group, tally in
      try isMet(by: related.answer(tally)) ? group.identifier : nil
    }
  }

  /// Whether a changed model changes the counts of the entities that it names, and no others.
  fileprivate var isCountable: Bool {
    let query = related.query
    return !query.hasWindow && query.nodeIdentifiers == nil && query.countedConditions != nil
  }
}

extension GroupValues {
  /// The node that the models of the group name; `nil` if they name none.
  package var identifier: String? {
    if case .one(.string(let identifier)) = self { identifier } else { nil }
  }
}

extension FilterTree {
  /// The filter with other conditions in the place of comparisons of some fields.
  ///
  /// - Parameter body: Returns the condition for a field; `nil` to keep the comparison.
  /// - Returns: The filter.
  fileprivate func replacing(_ body: (Field) -> FilterTree?) -> FilterTree {
    switch self {
    case .compare(let field, _, _): body(field) ?? self
    case .and(let parts): .and(parts.map { $0.replacing(body) })
    case .or(let parts): .or(parts.map { $0.replacing(body) })
    case .not(let part): .not(part.replacing(body))
    default: self
    }
  }
}

/// The condition that models of a query name an entity.
package struct RelatedCondition<S: Queryable>: CountedCondition, ResolvedCondition {
  package let related: RelatedAnswer<S, Int>
  private let field: QueryField<S>
  private let minimum: Int

  init<Reference: ModelReference>(
    _ query: Query<S>, by field: QuestionField<S, Reference>, atLeast minimum: Int
  ) {
    related = RelatedAnswer(.count, of: query, by: field)
    (self.field, self.minimum) = (field.field, minimum)
  }

  package func validate() throws(QueryError) { try related.validate() }

  package var namespaces: Set<String>? { related.query.namespaces }

  package var looksIntoNodes: Bool { field.mayLeadThroughNodes || related.query.looksIntoNodes }

  package func isMet(by count: Int) -> Bool { count >= minimum }

  func identifiers(
    among keys: [QueryValue]?, in snapshot: ModelSnapshot, _ plans: inout [QueryPlan]?
  ) throws -> [String] {
    let query = keys.map { related.query(of: $0) } ?? related.query
    if plans != nil { plans?.append(try snapshot.explain(related.grouped, to: query)) }
    return try identifiers(in: snapshot.answer(related.grouped, to: query)).sorted()
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.related.query == right.related.query && left.field == right.field
      && left.minimum == right.minimum
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(related.query)
    hasher.combine(field)
    hasher.combine(minimum)
  }
}
