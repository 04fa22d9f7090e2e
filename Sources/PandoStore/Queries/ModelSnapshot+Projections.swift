package import PandoModels

/// Nodes that a type shows though they have no record of it.
extension ModelSnapshot {
  /// Reads the nodes that have records of other types only, each from its newest record.
  ///
  /// - Parameters:
  ///   - type: The type to read them as; a node whose record lacks what it requires is left out.
  ///   - others: The names of the other types.
  ///   - prefix: What the identifiers begin with.
  /// - Returns: The models, in the order in which the store first saw their nodes.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  package func projections<M: SimpleModel & Decodable>(
    as type: M.Type, from others: [String], prefix: String
  ) throws -> [M] {
    let nodes = try reader.nodes(ofTypesNamed: others, lacking: M.modelTypeName)
    if nodes.isEmpty { return [] }
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    var found: [M] = []
    for node in nodes {
      guard try reader.identifier(of: node).utf8.starts(with: prefix.utf8) else { continue }
      do {
        found.append(try source.model(node, as: type))
      } catch is ModelError {}
    }
    return found
  }

  /// Reads a node from its newest record; `nil` if there is none, or it lacks what the type requires.
  package func projection<M: SimpleModel & Decodable>(
    _ identifier: String, as type: M.Type
  ) throws -> M? {
    do {
      return try model(identifier, as: type)
    } catch is ModelError {
      return nil
    }
  }

  /// Says how a query is answered that shows nodes of other types, too.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - others: The names of the other types.
  ///   - identifierCount: How many nodes are asked for by identifier, if nothing else is.
  /// - Returns: The plan.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  package func plan(
    for query: RecordQuery, withNodesOf others: [String], identifierCount: Int?
  ) throws -> QueryPlan {
    let plan = try plan(for: query)
    if others.isEmpty { return plan }
    let count = try reader.nodes(ofTypesNamed: others, lacking: query.typeName).count
    if count == 0 { return plan }
    if let identifierCount {
      return QueryPlan(
        typeName: plan.typeName, recordCount: plan.recordCount,
        access: .identifiers(count: identifierCount), isSorted: plan.isSorted,
        isToldByIndex: false)
    }
    let scan = QueryPlan.Access.projection(count: count)
    return QueryPlan(
      typeName: plan.typeName, recordCount: plan.recordCount,
      access: plan.access == .nothing ? scan : .union([plan.access, scan]), isSorted: true,
      isToldByIndex: false)
  }
}
