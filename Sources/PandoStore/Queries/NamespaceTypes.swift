import PandoModels
import PandoSystem

/// The types that show the nodes of one namespace, as far as this process has used them.
package enum NamespaceTypes {
  private struct Entry: Sendable {
    let type: ObjectIdentifier
    /// `nil` for a type that shares no nodes.
    let namespace: String?
    let name: String
    var others: [String]
  }

  /// One for each type.
  private static let entries = Locked<[Entry]>([])

  /// The names of other types under which nodes of a type's namespace may have records.
  ///
  /// The call also adds the type for the others of its namespace. A type with the name of the namespace
  /// counts without having been used.
  @discardableResult
  package static func others<E: Queryable>(of type: E.Type) -> [String] {
    let identity = ObjectIdentifier(type)
    return find(identity) ?? insert(identity, E.modelTypeName, E.nodeNamespace)
  }

  private static func find(_ type: ObjectIdentifier) -> [String]? {
    entries.withLock { entries in
      for index in entries.indices where entries[index].type == type {
        return entries[index].others
      }
      return nil
    }
  }

  @inline(never)
  private static func insert(
    _ type: ObjectIdentifier, _ name: String, _ namespace: String?
  ) -> [String] {
    entries.withLock { entries in
      var others = namespace.map { $0 == name ? [] : [$0] } ?? []
      for index in entries.indices {
        let entry = entries[index]
        guard let namespace, entry.namespace?.hasSameBytes(as: namespace) == true else { continue }
        // Another thread has added the type.
        if entry.type == type { return entry.others }
        // Another Swift type with the same records.
        if entry.name == name { continue }
        if !others.contains(entry.name) { others.append(entry.name) }
        if !entry.others.contains(name) { entries[index].others.append(name) }
      }
      entries.append(Entry(type: type, namespace: namespace, name: name, others: others))
      return others
    }
  }
}

extension ModelSnapshot {
  /// Reads an entity from its own record, or from the node's newest record of another type of its namespace.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - type: The entity type.
  ///   - childCount: Set to how many nodes were read for it beside its own.
  /// - Returns: The entity; `nil` if there is no such node, or it lacks what the type requires.
  /// - Throws: `ModelError` when its own record can't be decoded; `StoreError`.
  package func entity<E: Queryable>(
    _ identifier: String, as type: E.Type, _ childCount: inout Int
  ) throws -> E? {
    if let own = try recordedModel(identifier, as: type, &childCount) { return own }
    if NamespaceTypes.others(of: type).isEmpty { return nil }
    // The number of read nodes is unknown; 1 stands for some.
    childCount = 1
    return try projection(identifier, as: type)
  }

  /// Whether a stored entity has no record of its type.
  package func isProjection<E: Queryable>(_ entity: E) throws -> Bool {
    if NamespaceTypes.others(of: E.self).isEmpty { return false }
    return try !typeNames(of: entity.modelIdentifier ?? "").contains(E.modelTypeName)
  }

  /// Reads the entities without a record of their type that may match a query.
  func projections<E: Queryable>(for query: Query<E>) throws -> [E] {
    let others = NamespaceTypes.others(of: E.self)
    if others.isEmpty { return [] }
    guard let identifiers = query.nodeIdentifiers else {
      return try projections(as: E.self, from: others, prefix: (E.nodeNamespace ?? "") + ":")
    }
    return try identifiers.map({ ByteString($0) }).unique.compactMap { identifier in
      let names = try typeNames(of: identifier.text)
      if names.isEmpty || names.contains(E.modelTypeName) { return nil }
      return try projection(identifier.text, as: E.self)
    }
  }
}
