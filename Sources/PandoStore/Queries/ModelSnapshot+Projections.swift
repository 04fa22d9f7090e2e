package import PandoModels

/// Reads nodes as a type of which they have no record.
extension ModelSnapshot {
  /// Reads the nodes that have only records of other types, each from its newest record.
  ///
  /// - Parameters:
  ///   - type: The type to read them as; a node that lacks a required field is omitted.
  ///   - others: The names of the other types.
  ///   - prefix: The common prefix of the identifiers.
  /// - Returns: The models, in the order in which their nodes were first stored.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
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

  /// Reads a node from its newest record; `nil` if there is none or a required field is missing.
  package func projection<M: SimpleModel & Decodable>(
    _ identifier: String, as type: M.Type
  ) throws -> M? {
    do {
      return try get(identifier, as: type)
    } catch is ModelError {
      return nil
    }
  }

  /// Returns the plan of a query that includes nodes of other types.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - others: The names of the other types.
  ///   - identifierCount: The number of requested identifiers, if these are the only condition.
  /// - Returns: The plan.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
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
        reading: .models)
    }
    let scan = QueryPlan.Access.projection(count: count)
    return QueryPlan(
      typeName: plan.typeName, recordCount: plan.recordCount,
      access: plan.access == .nothing ? scan : .union([plan.access, scan]), isSorted: true,
      reading: .models)
  }
}
