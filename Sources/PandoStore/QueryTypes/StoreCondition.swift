import PandoModels

/// A condition on an entity that only a store can check, because it depends on other models.
package protocol StoreCondition: Hashable, Sendable {
  /// Checks its parts that the compiler can't check.
  ///
  /// - Throws: ``QueryError`` as ``Query/validate()``.
  func validate() throws(QueryError)

  /// The namespaces of the nodes that it depends on; `nil` if a change of any node may matter.
  var namespaces: Set<String>? { get }
  /// Whether it depends on nodes inside these nodes.
  var looksIntoNodes: Bool { get }
}

extension Query {
  /// The namespaces of the nodes that the result depends on; `nil` if a change of any node may matter.
  package var namespaces: Set<String>? {
    guard let own = E.nodeNamespace, !order.contains(where: { $0.key == .relevance }) else {
      return nil
    }
    var namespaces: Set = [own]
    for field in filter.tree.fields where field.isStoresOwn {
      guard let more = field.condition?.namespaces else { return nil }
      namespaces.formUnion(more)
    }
    return namespaces
  }

  /// Whether a change of a node inside an entity may add the entity to the result.
  package var looksIntoNodes: Bool {
    var fields = uniqueBy + filter.tree.fields
    for order in order {
      if case .field(let field, _) = order.key { fields.append(field) }
    }
    return fields.contains { $0.condition?.looksIntoNodes ?? $0.mayLeadThroughNodes }
  }
}
