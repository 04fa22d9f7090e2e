import PandoLMDB
import PandoModels

extension WriteContext {
  /// Removes nodes that nobody holds, nobody asked for, and no collection lists; then those that
  /// only they held.
  ///
  /// - Returns: How many nodes were removed.
  func prune() throws -> Int {
    var candidates: [UInt64] = []
    try reading { reader in
      try reader.snapshot.scan(tables.nodes) { key, value in
        let node = ByteFields.bigEndian(key, at: 0) ?? 0
        if try !NodeRow(value, node: node).isAskedFor { candidates.append(node) }
        return true
      }
    }
    var removed = 0
    while let node = candidates.popLast() {
      let isLoose = try reading { reader in
        guard let row = try reader.summary(of: node), !row.isAskedFor else { return false }
        return try !reader.hasParents(node)
      }
      guard isLoose else { continue }
      candidates += try children(of: node)
      try removeNode(node)
      removed += 1
    }
    return removed
  }

  private func children(of node: UInt64) throws -> [UInt64] {
    try reading { reader in
      var children: Set<UInt64> = []
      for type in try reader.requiredSummary(of: node).types {
        guard let body = try reader.body(of: RecordKey(type: type, node: node)) else { continue }
        for edge in try RecordBody.edges(in: body) { children.insert(edge.child.node) }
      }
      return children.sorted()
    }
  }

  /// Removes every node and every collection; properties, types and the change log stay.
  func removeAll() throws {
    var nodes: [(number: UInt64, identifier: String)] = []
    var cacheKeys: [String] = []
    var types: [String] = []
    try reading { reader in
      try reader.snapshot.scan(tables.nodes) { key, value in
        let node = ByteFields.bigEndian(key, at: 0) ?? 0
        nodes.append((node, try NodeRow(value, node: node).identifier(node: node)))
        return true
      }
      try reader.snapshot.scan(tables.collections) { key, _ in
        cacheKeys.append(try StoreReader.text(key, "cache key"))
        return true
      }
      try reader.forEachType { name, _ in types.append(name) }
    }
    for table in [
      tables.identifiers, tables.nodes, tables.nodesByType, tables.parents, tables.collections,
      tables.collectionNames, tables.elements, tables.indexRows,
    ] {
      try removeAllRows(in: table)
    }
    state.typeBlocks = TypeBlocks()
    for node in nodes { state.changes.delete(node.number, node.identifier) }
    for cacheKey in cacheKeys { state.changes.reset(collection: cacheKey) }
    for name in types {
      let number = Int(try typeNumber(named: name))
      if number < state.recordDifferences.count { state.recordDifferences[number] = 0 }
      state.types[ByteString(name)]?.recordCount = 0
      state.typesToWrite.insert(ByteString(name))
    }
  }
}
