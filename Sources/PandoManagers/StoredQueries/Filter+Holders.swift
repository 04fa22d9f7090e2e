import PandoModels
import PandoStore

extension Filter {
  /// Whether it asks who holds an entity.
  var namesHolders: Bool {
    var namesHolders = false
    tree.forEachLeaf { leaf in
      if case .compare(let field, _, _) = leaf, field.namesHolders { namesHolders = true }
    }
    return namesHolders
  }
}

extension ModelSnapshot {
  /// The same query by the identifiers of what nodes hold now, where it asks for that.
  func resolved<E: Queryable>(_ query: Query<E>) throws -> Query<E> {
    guard query.filter.namesHolders else { return query }
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
    case .and(let parts): return .and(try parts.map { try resolved($0) })
    case .or(let parts): return .or(try parts.map { try resolved($0) })
    case .not(let part): return .not(try resolved(part))
    default: return tree
    }
  }
}
