import PandoModels

extension Filter {
  /// Whether a comparison needs rows of a store beside the record of the model.
  package var needsStore: Bool {
    var needsStore = false
    tree.forEachLeaf { leaf in
      if case .compare(let field, _, _) = leaf, field.isStoresOwn { needsStore = true }
    }
    return needsStore
  }
}

extension Query {
  /// Whether the result depends on more than the entities themselves.
  package var needsStore: Bool { filter.needsStore || order.contains { $0.key == .relevance } }
}

extension ModelSnapshot {
  /// The query with the fields that only a store has replaced by the identifiers of their matches.
  func resolved<E: Queryable>(_ query: Query<E>) throws -> Query<E> {
    guard query.filter.needsStore else { return query }
    var result = query
    result.filter = Filter(try resolved(query.filter.tree))
    return result
  }

  private func resolved<E: Queryable>(
    _ tree: FilterTree<QueryField<E>>
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
    case .and(let parts): return .and(try parts.map { try resolved($0) })
    case .or(let parts): return .or(try parts.map { try resolved($0) })
    case .not(let part): return .not(try resolved(part))
    default: return tree
    }
  }
}
