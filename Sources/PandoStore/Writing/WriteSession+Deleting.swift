import PandoLMDB
import PandoRecords
import PandoSystem

extension WriteSession {
  /// The plan of a delete, made by following the dependency index upwards before any change.
  private struct Cascade {
    /// The nodes to delete, in the order in which they were found.
    var doomed: [UInt64] = []
    var isDoomed: Set<UInt64> = []
    /// The records that lose a child.
    var losers: Set<RecordKey> = []
    /// The collections that lose an element, or a part of a value.
    var collections: Set<UInt64> = []
    /// The records whose rules refuse the delete of a child, unless they are deleted, too.
    var holders: [(parent: RecordKey, child: UInt64, field: String)] = []

    mutating func doom(_ node: UInt64) {
      if isDoomed.insert(node).inserted { doomed.append(node) }
    }
  }

  /// Deletes a node: optional edges to it become nil, lists and maps lose it, and parents that
  /// require it are deleted in the same way.
  ///
  /// - Returns: The effects; `nil` if there is no such node.
  func delete(_ identifier: String) throws -> Deletion? {
    guard let node = try reading({ try $0.node(identifier) }) else { return nil }
    var cascade = try planCascade(from: node)
    if state.deletionRules?.isEmpty != true {
      for child in try owned(by: cascade.doomed, cascade.isDoomed) { cascade.doom(child) }
    }
    // Last, because a restricting parent may itself be deleted with its owner.
    let holders = cascade.holders.filter { !cascade.isDoomed.contains($0.parent.node) }
    guard holders.isEmpty else { throw try restricted(holders) }
    var deletion = Deletion()
    var updated: Set<UInt64> = []
    let losers = cascade.losers.filter { !cascade.isDoomed.contains($0.node) }
    for record in losers.inOrder(by: { ($0.node, $0.type) < ($1.node, $1.type) }) {
      if let identifier = try loseChildren(cascade.isDoomed, in: record),
        updated.insert(record.node).inserted
      {
        deletion.updated.append(identifier)
      }
    }
    for collection in cascade.collections.inOrder(by: <) {
      deletion.collections.append(try loseElements(cascade.isDoomed, inCollection: collection))
    }
    for node in cascade.doomed { try leaveIndexes(node) }
    for node in cascade.doomed { deletion.deleted.append(try removeNode(node)) }
    return deletion
  }

  private func planCascade(from node: UInt64) throws -> Cascade {
    var cascade = Cascade()
    cascade.doom(node)
    var level = 0..<1
    _ = try deletionRules(ofType: 0)
    while !level.isEmpty {
      try reading { reader in
        let children = try requiredChildren(of: level, &cascade, reader)
        if children.isEmpty { return }
        for (parent, children) in children.ordered(by: { $0.key.rawValue < $1.key.rawValue })
        where !cascade.isDoomed.contains(parent.node) {
          if try isLost(parent, without: children, reader) { cascade.doom(parent.node) }
        }
      }
      level = level.upperBound..<cascade.doomed.count
    }
    return cascade
  }

  /// The records that may require doomed nodes in a range, with the nodes that they contain.
  ///
  /// Losing several children affects a record like losing each of them. So a record, and its rules,
  /// are read once for all nodes of a level, not for each of a long list.
  private func requiredChildren(
    of level: Range<Int>, _ cascade: inout Cascade, _ reader: borrowing StoreReader
  ) throws -> [RecordKey: Set<UInt64>] {
    var children: [RecordKey: Set<UInt64>] = [:]
    var restricted: [RecordKey: [UInt64: String]] = [:]
    for child in cascade.doomed[level] {
      try reader.forEachParent(of: child) { parent, kinds in
        if parent.isCollection {
          cascade.collections.insert(parent.node)
        } else if !cascade.isDoomed.contains(parent.node) {
          if state.deletionRules?[parent.type] != nil, restricted[parent] == nil {
            restricted[parent] = try restrictedFields(of: parent, reader)
          }
          if let field = restricted[parent]?[child] {
            cascade.holders.append((parent, child, field))
          } else {
            cascade.losers.insert(parent)
          }
          if kinds.contains(.required) { children[parent, default: []].insert(child) }
        }
        return true
      }
    }
    return children
  }

  /// The first field of each child whose deletion a rule prevents.
  private func restrictedFields(
    of parent: RecordKey, _ reader: borrowing StoreReader
  ) throws -> [UInt64: String] {
    guard let rules = state.deletionRules?[parent.type], let body = try reader.body(of: parent)
    else { return [:] }
    let children = try rules.children(of: .restrict, in: body)
    return Dictionary(children.map { ($0.node, $0.field) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether a record can't exist without some children, except those in restricted fields.
  private func isLost(
    _ parent: RecordKey, without children: Set<UInt64>, _ reader: borrowing StoreReader
  ) throws -> Bool {
    guard let body = try reader.body(of: parent) else {
      throw reader.damagedRecord(parent, "the dependency index names it but it is not there")
    }
    let kept = try state.deletionRules?[parent.type]?.ranges(of: .restrict, in: body) ?? []
    if case .lost = try RecordBody.losing(children, in: body, keeping: kept) { return true }
    return false
  }

  /// Removes doomed children from a record that stays.
  ///
  /// - Returns: The identifier of its node; `nil` if the record is unchanged.
  private func loseChildren(_ doomed: Set<UInt64>, in parent: RecordKey) throws -> String? {
    guard let stored = try storedBody(of: parent) else {
      throw StoreError.damaged(
        "node \(parent.node)", "the dependency index names a record that is not there")
    }
    switch try RecordBody.losing(doomed, in: stored.span) {
    case .unchanged: return nil
    case .lost: preconditionFailure("a record that can't be without its child is doomed itself")
    case .changed(let body):
      let edges = try RecordBody.edges(in: body.span)
      try putRecord(parent, body: body[...], replacing: stored, edges: edges[...])
    }
    let identifier = try reading { try $0.identifier(of: parent.node) }
    state.changes.update(parent.node, identifier)
    return identifier
  }

  /// Removes a node with all its records and rows of the dependency index; its children stay.
  ///
  /// - Returns: Its identifier.
  @discardableResult
  func removeNode(_ node: UInt64) throws -> String {
    let row = try reading { try $0.requiredSummary(of: node) }
    for type in row.types {
      let key = RecordKey(type: type, node: node)
      let body = try storedBody(of: key) ?? []
      try changeEdges(of: key, from: RecordBody.edges(in: body.span)[...], to: [])
      try recordWent(key)
    }
    var parents: [RecordKey] = []
    try reading { reader in
      try reader.forEachParent(of: node) { parent, _ in
        parents.append(parent)
        return true
      }
    }
    for parent in parents {
      let key = ParentKey(child: node, parent: parent)
      try deleteRow(key.bytes.span, in: tables.parents)
    }
    let nodeKey = IntegerKey(node)
    try deleteRow(nodeKey.bytes.span, in: tables.nodes)
    let identifierKey = IdentifierKey(row.identifier)
    try deleteRow(identifierKey.bytes.span, in: tables.identifiers)
    state.frees = true
    state.changes.delete(node, row.identifier)
    return row.identifier
  }
}

extension Set {
  /// The elements in an order; most deletes have at most one.
  fileprivate func inOrder(by isBefore: (Element, Element) -> Bool) -> [Element] {
    count < 2 ? first.map { [$0] } ?? [] : ordered(by: isBefore)
  }
}

extension WriteSession {
  /// Removes nodes that have no parent, were not asked for, and are in no collection; then children
  /// that only they contained.
  ///
  /// - Returns: The number of removed nodes.
  func prune() throws -> Int {
    var candidates: [UInt64] = []
    try reading { reader in
      try reader.snapshot.scan(tables.nodes) { key, value in
        let node = key.bigEndian(at: 0) ?? 0
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
      candidates += try reading { try $0.children(of: node) }
      try leaveIndexes(node)
      try removeNode(node)
      removed += 1
    }
    return removed
  }

  /// Removes every node and every collection; properties, types and the change log stay.
  func removeAll() throws {
    var nodes: [(number: UInt64, identifier: String)] = []
    var cacheKeys: [String] = []
    var types: [String] = []
    try reading { reader in
      try reader.snapshot.scan(tables.nodes) { key, value in
        let node = key.bigEndian(at: 0) ?? 0
        nodes.append((node, try NodeRow(value, node: node).identifier(node: node)))
        return true
      }
      try reader.snapshot.scan(tables.collections) { key, value in
        cacheKeys.append(try reader.cacheKey(ofRow: key, value))
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
    state.rowChanges = [:]
    state.wordChanges = [:]
    state.frees = true
    for node in nodes { state.changes.delete(node.number, node.identifier) }
    for cacheKey in cacheKeys { state.changes.reset(collection: cacheKey) }
    for name in types {
      let number = Int(try typeNumber(named: name))
      if number < state.recordDifferences.count { state.recordDifferences[number] = 0 }
      state.types.change(name) { $0.recordCount = 0 }
    }
  }
}
