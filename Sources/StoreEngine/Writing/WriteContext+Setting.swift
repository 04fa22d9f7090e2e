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
    try store(collector.pending, roots: [root.node], mayCloseCycle: false)
  }

  /// Stores an untyped tree by the same rules.
  func set(_ tree: TreeNode, isAskedFor: Bool = true) throws {
    let collector = RecordCollector(self)
    var encoder = TreeEncoder(sink: collector)
    let root = try encoder.encode(tree)
    try store(
      collector.pending, roots: isAskedFor ? [root.node] : [],
      mayCloseCycle: collector.namesStoredNodes)
  }

  /// Stores collected records in traversal order, and marks the roots as asked for.
  func store(_ pending: PendingRecords, roots: Set<UInt64>, mayCloseCycle: Bool) throws {
    let records = try pending.effective { record in
      core.report(
        .conflictingContent(
          identifier: record.identifier, typeName: try typeName(record.reference.type)))
    }
    var shared: Set<UInt64> = []
    for record in records {
      let isRoot = roots.contains(record.reference.node)
      let body = pending.body(of: record)
      if record.isNewNode, !pending.hasRepeatedNodes {
        // It closes no cycle: only what comes later in the tree can name it, and is looked at then.
        try storeNew(record, body: body, isAskedFor: isRoot)
      } else {
        if try store(record, body: body, mayCloseCycle: mayCloseCycle) {
          shared.insert(record.reference.node)
        }
        if isRoot { try markAskedFor(record.reference.node) }
      }
    }
    // Only now are all nodes there that a merge may have to read. Last first, and from what is
    // stored by then: so of two projections in one tree the later one counts.
    if !shared.isEmpty {
      for record in records.reversed() where shared.contains(record.reference.node) {
        try mergeIntoOtherProjections(from: record, body: pending.body(of: record))
      }
    }
    if core.configuration.reportsChildDisagreement { try compareChildren(pending) }
  }

  /// Stores the first record of a node that no row speaks of yet: nothing has to be read.
  func storeNew(
    _ record: PendingRecords.Record, body: ArraySlice<UInt8>, isAskedFor: Bool
  ) throws {
    let key = RecordKey(record.reference)
    try putIdentifier(record.identifier, node: key.node)
    var row = NodeRow(identifier: record.identifier)
    row.isAskedFor = isAskedFor
    row.types = [key.type]
    try put(row.bytes.span, forKey: key.nodeKey.bytes.span, in: tables.nodes)
    try putRecord(key, body: body, replacing: nil, edges: record.edges)
    state.changes.insert(key.node, record.identifier)
  }

  /// Stores a record of a node that may have others.
  ///
  /// - Returns: Whether it has changed and there are others, which have to follow.
  func store(
    _ record: PendingRecords.Record, body: ArraySlice<UInt8>, mayCloseCycle: Bool
  ) throws -> Bool {
    let key = RecordKey(record.reference)
    if try reading({ try $0.body(of: key, equals: body) }) { return false }
    if mayCloseCycle { try refuseCycle(key, edges: record.edges) }
    let stored = try storedBody(of: key)
    let storedRow = try reading { try $0.nodeRow(key.node) }
    if storedRow == nil { try putIdentifier(record.identifier, node: key.node) }
    var row = storedRow ?? NodeRow(identifier: record.identifier)
    if stored == nil {
      try checkTypeCount(row)
      row.insert(type: key.type)
      try put(row.bytes.span, forKey: key.nodeKey.bytes.span, in: tables.nodes)
    }
    try putRecord(key, body: body, replacing: stored, edges: record.edges)
    if storedRow == nil {
      state.changes.insert(key.node, record.identifier)
    } else {
      state.changes.update(key.node, record.identifier)
    }
    return row.types.count > 1
  }

  private func checkTypeCount(_ row: NodeRow) throws {
    guard row.types.count < NodeRow.typeCountMaximum else {
      throw StoreError(
        .invalidModel, row.identifier, "has records of \(NodeRow.typeCountMaximum) types already")
    }
  }

  /// Makes the identifier row of a node; its own row follows with its first record.
  func putIdentifier(_ identifier: String, node: UInt64) throws {
    let isLong = identifier.utf8.count > IdentifierKey.shortByteCountMaximum
    guard isLong else {
      let value = LittleEndianValue(node)
      return try put(
        value.bytes.span, forKey: identifier.utf8Span.span, in: tables.identifiers)
    }
    let key = IdentifierKey(identifier)
    var value: [UInt8] = []
    ByteFields.append(node, width: 8, to: &value)
    value.append(contentsOf: identifier.utf8)
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
    if let stored {
      try changeEdges(of: key, from: RecordBody.edges(in: stored.span), to: edges)
    } else {
      try changeEdges(of: key, from: [], to: edges)
      try countRecord(ofType: key.type, by: 1)
    }
  }

  /// Brings the index rows of one parent from its old edges to its new ones.
  func changeEdges(
    of parent: RecordKey, from before: [RecordEdge], to after: [RecordEdge]
  ) throws {
    let old = ChildKinds(before)
    let new = ChildKinds(after)
    for (child, kinds) in new.entries where old[child] != kinds {
      let key = ParentKey(child: child, parent: parent)
      try put([kinds.rawValue].span, forKey: key.bytes.span, in: tables.parents)
    }
    for (child, _) in old.entries where new[child] == nil {
      let key = ParentKey(child: child, parent: parent)
      try deleteRow(key.bytes.span, in: tables.parents)
    }
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
