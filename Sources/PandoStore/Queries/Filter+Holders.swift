import PandoModels

extension Filter {
  /// Whether a comparison needs rows of a store beside the record of the model.
  package var needsStore: Bool {
    switch tree {
    case .compare(let field, _, _): field.isStoresOwn
    case .and(let parts), .or(let parts): parts.contains { Filter($0).needsStore }
    case .not(let part): Filter(part).needsStore
    default: false
    }
  }
}

extension Query {
  /// Whether the result depends on more than the entities themselves.
  package var needsStore: Bool { filter.needsStore || order.contains { $0.key == .relevance } }
}

/// A condition that a store replaces by the identifiers of the entities that meet it.
protocol ResolvedCondition: StoreCondition {
  /// Returns the entities that meet the condition.
  ///
  /// - Parameters:
  ///   - keys: The identifiers of the entities that count, as values; `nil` if all do.
  ///   - snapshot: The store.
  ///   - plans: Receives the plan of each question that is asked; `nil` without an interest in them.
  /// - Returns: The identifiers of these entities, and perhaps of others that do not count.
  /// - Throws: As ``ModelSnapshot/answer(_:to:)``.
  func identifiers(
    among keys: [QueryValue]?, in snapshot: ModelSnapshot, _ plans: inout [QueryPlan]?
  ) throws -> [String]
}

extension ModelSnapshot {
  /// The query with the fields that only a store has replaced by the identifiers of their matches.
  package func resolved<E: Queryable>(_ query: Query<E>) throws -> Query<E> {
    guard query.filter.needsStore else { return query }
    var plans: [QueryPlan]?
    return try resolved(query, &plans)
  }

  /// The same; `plans` receives how the models in conditions are found, unless it is `nil`.
  func resolved<E: Queryable>(
    _ query: Query<E>, _ plans: inout [QueryPlan]?
  ) throws -> Query<E> {
    guard query.filter.needsStore else { return query }
    var result = query
    result.filter = Filter(try resolved(query.filter.tree, among: nil, &plans))
    return result
  }

  private func resolved<E: Queryable>(
    _ tree: FilterTree<QueryField<E>>, among keys: [QueryValue]?, _ plans: inout [QueryPlan]?
  ) throws -> FilterTree<QueryField<E>> {
    switch tree {
    case .compare(let field, _, .string(let holder)) where field.namesHolders:
      return Filter<E>.identifiers(try children(of: currentIdentifier(of: holder))).tree
    case .compare(let field, _, .string(let name)) where field.isStoresOwn:
      guard let state = SynchronizationState(rawValue: name) else { return tree }
      let prefix = E.nodeNamespace.map { $0 + ":" } ?? ""
      let found = try identifiers(
        ofType: E.modelTypeName, prefix: prefix, synchronized: state)
      return Filter<E>.identifiers(found).tree
    case .compare(let field, _, _):
      guard let condition = field.condition as? any ResolvedCondition else { return tree }
      try condition.validate()
      let found = try condition.identifiers(among: keys, in: self, &plans)
      return Filter<E>.identifiers(found).tree
    case .and(let parts):
      let keys = try keys ?? few(parts)
      return .and(try parts.map { try resolved($0, among: keys, &plans) })
    case .or(let parts): return .or(try parts.map { try resolved($0, among: keys, &plans) })
    case .not(let part): return .not(try resolved(part, among: keys, &plans))
    default: return tree
    }
  }

  /// The entities that meet all conditions on themselves, if an index finds them and they are few.
  ///
  /// - Returns: Their identifiers, as values; `nil` if they may be many.
  private func few<E: Queryable>(_ parts: [FilterTree<QueryField<E>>]) throws -> [QueryValue]? {
    let own = parts.filter { !Filter($0).needsStore }
    guard own.count < parts.count, !own.isEmpty, NamespaceTypes.others(of: E.self).isEmpty else {
      return nil
    }
    var query = Query<E>(filter: Filter(.and(own)))
    switch try explain(query).access {
    case .nothing, .identifiers, .index, .parents, .words: break
    case .union, .intersection, .scan, .projection, .recordCount: return nil
    }
    query.limit = Self.fewMaximum + 1
    let identifiers = try modelIdentifiers(matching: query)
    return identifiers.count > Self.fewMaximum ? nil : identifiers.map { .string($0) }
  }

  /// The largest number of entities for which a condition looks for models of each of them.
  private static var fewMaximum: Int { 1000 }
}
