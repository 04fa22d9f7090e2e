import LMDB
import ModelCore

extension WriteContext {
  /// Stores a tree: each of its nodes as a record of its own.
  ///
  /// The tree is encoded as a whole before the first row is written, so a tree that is refused leaves
  /// nothing behind.
  func set(_ model: some SimpleModel & Encodable) throws {
    let collector = RecordCollector(self)
    let root = try RecordEncoder(sink: collector).encode(model)
    try store(collector.pending, mayCloseCycle: false)
    try markAskedFor(root.node)
  }

  /// Stores an untyped tree by the same rules.
  func set(_ tree: TreeNode) throws {
    let collector = RecordCollector(self)
    var encoder = TreeEncoder(sink: collector)
    let root = try encoder.encode(tree)
    try store(collector.pending, mayCloseCycle: collector.namesStoredNodes)
    try markAskedFor(root.node)
  }

  /// Stores collected records in traversal order; of two for one node and type the later one counts.
  func store(_ pending: PendingRecords, mayCloseCycle: Bool) throws {
    var last: [RecordReference: Int] = [:]
    last.reserveCapacity(pending.records.count)
    for (index, record) in pending.records.enumerated() {
      if let earlier = last.updateValue(index, forKey: record.reference),
        pending.body(of: pending.records[earlier]) != pending.body(of: record)
      {
        core.report(
          .conflictingContent(
            identifier: record.identifier, typeName: try typeName(record.reference.type)))
      }
    }
    for (index, record) in pending.records.enumerated() where last[record.reference] == index {
      try store(record, body: pending.body(of: record), mayCloseCycle: mayCloseCycle)
    }
    if core.configuration.reportsChildDisagreement { try compareChildren(pending) }
  }

  private func store(
    _ record: PendingRecords.Record, body: ArraySlice<UInt8>, mayCloseCycle: Bool
  ) throws {
    let key = RecordKey(record.reference)
    let storedRow = try reading { try $0.nodeRow(key.node) }
    let isNewNode = storedRow == nil
    if isNewNode { try putIdentifier(record.identifier, node: key.node) }
    var row = storedRow ?? NodeRow(identifier: record.identifier)

    let stored = try storedBody(of: key)
    if let stored, stored[...] == body { return }
    if mayCloseCycle { try refuseCycle(key, edges: record.edges) }
    if stored == nil {
      try checkTypeCount(row)
      row.insert(type: key.type)
      try put(row.bytes.span, forKey: key.nodeKey.bytes.span, in: tables.nodes)
    }
    try putRecord(key, body: body, replacing: stored, edges: record.edges)
    if isNewNode {
      state.changes.insert(record.identifier)
    } else {
      state.changes.update(record.identifier)
    }
    if row.types.count > 1 {
      try mergeIntoOtherProjections(of: row, from: key, body: Array(body), value: record.value)
    }
  }

  private func checkTypeCount(_ row: NodeRow) throws {
    guard row.types.count < NodeRow.typeCountMaximum else {
      throw StoreError(
        .invalidModel, row.identifier, "has records of \(NodeRow.typeCountMaximum) types already")
    }
  }

  /// Makes the identifier row of a node; its own row follows with its first record.
  func putIdentifier(_ identifier: String, node: UInt64) throws {
    let key = IdentifierKey(identifier)
    var value: [UInt8] = []
    ByteFields.append(node, width: 8, to: &value)
    if key.isLong { value.append(contentsOf: identifier.utf8) }
    try put(value.span, forKey: key.bytes.span, in: tables.identifiers)
  }

  func markAskedFor(_ node: UInt64) throws {
    var row = try reading { try $0.requiredNodeRow(node) }
    guard !row.isAskedFor else { return }
    row.isAskedFor = true
    let key = IntegerKey(node)
    try put(row.bytes.span, forKey: key.bytes.span, in: tables.nodes)
  }

  /// A copy of the body of a stored record.
  func storedBody(of key: RecordKey) throws -> [UInt8]? {
    try reading { reader in
      guard let body = try reader.body(of: key) else { return nil }
      return Array(copying: body)
    }
  }

  /// Writes a record and corrects the dependency index by the difference of its edges.
  func putRecord(
    _ key: RecordKey, body: ArraySlice<UInt8>, replacing stored: [UInt8]?, edges: [RecordEdge],
    commitNumber: UInt64? = nil
  ) throws {
    let bytes = RecordHeader.record(commitNumber: commitNumber ?? nextCommitNumber, body: body)
    try put(bytes.span, forKey: key.key.bytes.span, in: tables.records)
    let before = try stored.map { try RecordBody.edges(in: $0.span) } ?? []
    try changeEdges(of: key, from: before, to: edges)
    if stored == nil { try countRecord(ofType: key.type, by: 1) }
  }

  /// Brings the index rows of one parent from its old edges to its new ones.
  func changeEdges(
    of parent: RecordKey, from before: [RecordEdge], to after: [RecordEdge]
  ) throws {
    if before.isEmpty && after.isEmpty { return }
    let old = Self.kindsByChild(before)
    let new = Self.kindsByChild(after)
    for (child, kinds) in new where old[child] != kinds {
      let key = ParentKey(child: child, parent: parent)
      try put([kinds.rawValue].span, forKey: key.bytes.span, in: tables.parents)
    }
    for child in old.keys where new[child] == nil {
      let key = ParentKey(child: child, parent: parent)
      try deleteRow(key.bytes.span, in: tables.parents)
    }
  }

  private static func kindsByChild(_ edges: [RecordEdge]) -> [UInt64: EdgeKinds] {
    Dictionary(edges.map { ($0.child.node, $0.kinds) }) { $0.union($1) }
  }

  /// Reports models whose hand-written children are not those of their coding.
  private func compareChildren(_ pending: PendingRecords) throws {
    for record in pending.records {
      guard let model = record.value as? any Model else { continue }
      var byHand: Set<String> = []
      ModelChildren.forEachNode(of: model) { byHand.insert($0) }
      let coded = try reading { reader in
        try Set(record.edges.map { try reader.identifier(of: $0.child.node) })
      }
      if byHand != coded {
        core.report(
          .childrenDisagree(
            identifier: record.identifier, typeName: try typeName(record.reference.type)))
      }
    }
  }
}

extension RecordKey {
  var nodeKey: IntegerKey { IntegerKey(node) }
}
