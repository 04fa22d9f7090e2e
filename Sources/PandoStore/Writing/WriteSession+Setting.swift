import PandoLMDB
import PandoModels
import PandoRecords
import PandoSystem

extension WriteSession {
  /// Stores a tree: each of its nodes as a separate record.
  ///
  /// The whole tree is encoded before the first row is written, so a refused tree has no effect.
  ///
  /// - Returns: The identifier of a tree that is one node.
  func set(_ model: some SimpleModel & Encodable) throws -> String? {
    try collecting { collector in
      let root = try RecordEncoder(sink: collector).encode(model)
      try unsafe store(collector.pending, mayCloseCycle: false, root: root.node)
      let isOneNode = unsafe collector.pending.records.count == 1
      return isOneNode && !(unsafe collector.pending.hasRepeatedNodes)
        ? unsafe collector.pending.records[0].identifier : nil
    }
  }

  /// Stores an untyped tree by the same rules.
  func set(_ tree: TreeNode, isAskedFor: Bool = true) throws {
    try collecting { collector in
      var encoder = TreeEncoder(sink: collector)
      let root = try encoder.encode(tree)
      try unsafe store(
        collector.pending, mayCloseCycle: collector.namesStoredNodes,
        root: isAskedFor ? root.node : nil)
    }
  }

  /// Stores collected records in traversal order, and marks a root and listed nodes as asked for.
  func store(
    _ pending: PendingRecords, mayCloseCycle: Bool, root: UInt64? = nil, listed: Set<UInt64> = []
  ) throws {
    func isRoot(_ node: UInt64) -> Bool { node == root || !listed.isEmpty && listed.contains(node) }
    // Whether each node gets the given content, so that trees have the given depth.
    let (records, replacing) = pending.effective()
    if !records.isEmpty { state.adds = true }
    let isAsGiven = !mayCloseCycle && replacing.isEmpty
    for record in replacing {
      core.report(
        .conflictingContent(
          identifier: record.identifier, typeName: try typeName(record.reference.type)))
    }
    let areNewRead = pending.hasRepeatedNodes
    if !areNewRead { try storeNewNodes(of: pending, isRoot: isRoot) }
    var shared: Set<UInt64> = []
    for record in records {
      let node = record.reference.node
      if record.isNewNode, !areNewRead {
        if !isAsGiven { noteGrowth(of: RecordKey(record.reference), 0, pending.edges(of: record)) }
        state.changes.insert(node, record.identifier)
        continue
      }
      let hasOthers = try store(
        record, of: pending, mayCloseCycle: mayCloseCycle, isAsGiven: isAsGiven,
        isAskedFor: isRoot(node), isAlone: records.count == 1)
      if hasOthers { shared.insert(node) }
    }
    // Now all nodes that a merge may read are stored. Last first, and from the stored state, so of
    // two projections in one tree the later one counts.
    if !shared.isEmpty {
      for record in records.reversed() where shared.contains(record.reference.node) {
        try mergeIntoOtherProjections(from: record, of: pending)
      }
    }
    if core.configuration.reportsChildDisagreement { try compareChildren(pending) }
  }

  /// Stores the nodes without a row, in numerical order: their rows are the last of their table,
  /// and nothing has to be read.
  ///
  /// They close no cycle: only later nodes of the tree can refer to them, and are checked then.
  private func storeNewNodes(of pending: PendingRecords, isRoot: (UInt64) -> Bool) throws {
    try pending.forEachNewRecord { record in
      try putNode(record, of: pending, isAskedFor: isRoot(record.reference.node))
    }
  }

  /// Stores a record of a node that may have others.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - pending: The tree that it belongs to.
  ///   - mayCloseCycle: Whether its edges may lead back to it.
  ///   - isAsGiven: Whether each node gets the given content.
  ///   - isAskedFor: Whether the node is now asked for.
  ///   - isAlone: Whether the tree has no other record.
  /// - Returns: Whether it has changed and the node has others, which have to be merged.
  /// - Throws: ``StoreError`` `cyclicModel`, `invalidModel` or `damaged`; `LMDBError`.
  private func store(
    _ record: PendingRecords.Record, of pending: PendingRecords, mayCloseCycle: Bool,
    isAsGiven: Bool, isAskedFor: Bool, isAlone: Bool
  ) throws -> Bool {
    let key = RecordKey(record.reference)
    let body = pending.body(of: record)
    let edges = pending.edges(of: record)
    guard let old = try reading({ try $0.storedRow(of: key, unlessBodyIs: body) }) else {
      if mayCloseCycle { try refuseCycle(key, edges: edges) }
      try putNode(record, of: pending, isAskedFor: isAskedFor)
      if !isAsGiven { noteGrowth(of: key, 0, edges) }
      state.changes.insert(key.node, record.identifier)
      return false
    }
    if old.isEmpty {
      if isAskedFor { try markAskedFor(key.node) }
      return false
    }
    let row = try NodeRow(old.span, node: key.node)
    let stored = row.index(ofType: key.type).map { Array(copying: row.body($0)) }
    if mayCloseCycle { try refuseCycle(key, edges: edges, known: stored) }
    if stored == nil { try checkTypeCount(row, record.identifier) }
    var new = NodeRowBytes.row(
      row, with: NodeRowBytes.Record(type: key.type, commitNumber: nextCommitNumber, body: body))
    if isAskedFor, !row.isAskedFor {
      NodeRowBytes.markAskedFor(&new)
      state.notes?.askedFor.append(key.node)
    }
    let others =
      try isAlone && edges.isEmpty && row.recordCount > (stored == nil ? 0 : 1)
      ? mergedRecords(besides: key, body, row, record.identifier, &new) : nil
    try put(new.span, forKey: key.nodeKey.bytes.span, in: tables.nodes)
    try follow(
      key, body: body, replacing: stored, edges: edges, newest: newestEdges(row, key, edges),
      height: isAsGiven ? record.height : 0)
    state.changes.update(key.node, record.identifier)
    guard let others else { return row.recordCount + (stored == nil ? 1 : 0) > 1 }
    for (other, stored, body) in others {
      try changeIndexRows(of: other, from: stored, to: body[...])
    }
    return false
  }

  private func checkTypeCount(_ row: borrowing NodeRow, _ identifier: String) throws {
    guard row.recordCount < NodeRow.typeCountMaximum else {
      throw StoreError(
        .invalidModel, identifier, "has records of \(NodeRow.typeCountMaximum) types already")
    }
  }

  func markAskedFor(_ node: UInt64) throws {
    let row = try reading { reader -> [UInt8]? in
      let key = IntegerKey(node)
      guard let bytes = try reader.snapshot.bytes(forKey: key.bytes.span, in: tables.nodes) else {
        throw StoreError.damaged("node \(node)", "rows refer to it but it has no row of its own")
      }
      return try NodeRow(bytes, node: node).isAskedFor ? nil : Array(copying: bytes)
    }
    guard var row else { return }
    NodeRowBytes.markAskedFor(&row)
    state.notes?.askedFor.append(node)
    let key = IntegerKey(node)
    try put(row.span, forKey: key.bytes.span, in: tables.nodes)
  }

  /// A copy of the body of a stored record.
  func storedBody(of key: RecordKey) throws -> [UInt8]? {
    try reading { reader in
      guard let body = try reader.body(of: key) else { return nil }
      return Array(copying: body)
    }
  }

  /// Writes the row of a node without one, with its first record.
  func putNode(
    _ record: PendingRecords.Record, of pending: PendingRecords, isAskedFor: Bool,
    commitNumber: UInt64? = nil
  ) throws {
    let key = RecordKey(record.reference)
    let nodeKey = key.nodeKey
    let body = pending.body(of: record)
    let byteCount = NodeRowBytes.byteCount(identifier: record.identifier, body: body)
    let room = try unsafe reserveNode(byteCount, forKey: nodeKey.bytes.span)
    unsafe NodeRowBytes.write(
      identifier: record.identifier, isAskedFor: isAskedFor,
      NodeRowBytes.Record(
        type: key.type, commitNumber: commitNumber ?? nextCommitNumber, body: body),
      to: room)
    try putEdges(of: key, pending.edges(of: record))
    try recordCame(key)
    try changeIndexRows(of: key, from: nil, to: body)
  }

  /// Writes a record of a node with a row, and corrects the dependency index by the difference of
  /// its edges.
  func putRecord(
    _ key: RecordKey, body: ArraySlice<UInt8>, replacing stored: [UInt8]?,
    edges: ArraySlice<RecordEdge>, height: Int = 0, commitNumber: UInt64? = nil
  ) throws {
    let record = NodeRowBytes.Record(
      type: key.type, commitNumber: commitNumber ?? nextCommitNumber, body: body)
    var newest: [RecordEdge]?
    let row = try reading { reader in
      guard let row = try reader.nodeRow(key.node) else {
        preconditionFailure("node \(key.node) has a row")
      }
      newest = try newestEdges(row, key, edges)
      return NodeRowBytes.row(row, with: record)
    }
    try put(row.span, forKey: key.nodeKey.bytes.span, in: tables.nodes)
    try follow(
      key, body: body, replacing: stored, edges: edges, newest: newest, height: height)
  }

  /// The previous targets of references to types without a record, if a record gets edges; from its
  /// row before the record.
  private func newestEdges(
    _ row: borrowing NodeRow, _ key: RecordKey, _ edges: ArraySlice<RecordEdge>
  ) throws -> [RecordEdge]? {
    guard !edges.isEmpty, let index = row.newestIndex, row.type(index) != key.type else {
      return nil
    }
    return try RecordBody.edges(in: row.body(index))
  }

  /// Updates indexes and edges after a record was written.
  private func follow(
    _ key: RecordKey, body: ArraySlice<UInt8>, replacing stored: [UInt8]?,
    edges: ArraySlice<RecordEdge>, newest: [RecordEdge]?, height: Int
  ) throws {
    try changeIndexRows(of: key, from: stored, to: body)
    let before = try stored.map { try RecordBody.edges(in: $0.span) } ?? []
    if stored != nil { noteGrowth(of: key, height, edges, from: before) }
    if let newest { noteGrowth(of: key, height, edges, from: newest) }
    if stored != nil {
      try changeEdges(of: key, from: before[...], to: edges)
    } else {
      try putEdges(of: key, edges)
      try recordCame(key)
    }
  }

  /// Makes the index rows of a parent that had none.
  private func putEdges(of parent: RecordKey, _ edges: ArraySlice<RecordEdge>) throws {
    var index = edges.startIndex
    while index < edges.endIndex {
      let child = edges[index].child.node
      var kinds = edges[index].kinds
      index += 1
      // Edges to one child as several types are adjacent.
      while index < edges.endIndex, edges[index].child.node == child {
        kinds.formUnion(edges[index].kinds)
        index += 1
      }
      let key = ParentKey(child: child, parent: parent)
      let room = try unsafe reserveEdge(1, forKey: key.bytes.span)
      unsafe room.storeBytes(of: kinds.rawValue, as: UInt8.self)
    }
  }

  /// Changes the index rows of a parent from its old edges to its new ones.
  func changeEdges(
    of parent: RecordKey, from before: ArraySlice<RecordEdge>, to after: ArraySlice<RecordEdge>
  ) throws {
    if before.isEmpty, after.isEmpty { return }
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

  /// Reports models whose hand-written children differ from those of their coding.
  private func compareChildren(_ pending: PendingRecords) throws {
    for record in pending.records {
      guard let model = pending.value(of: record) as? any Model else { continue }
      var byHand: Set<ByteString> = []
      ModelChildren.forEachNode(of: model) { byHand.insert(ByteString($0)) }
      let coded = try reading { reader in
        try Set(
          pending.edges(of: record).map { try ByteString(reader.identifier(of: $0.child.node)) })
      }
      if byHand != coded {
        core.report(
          .childrenDisagree(
            identifier: record.identifier, typeName: try typeName(record.reference.type)))
      }
    }
  }
}

extension WriteSession {
  /// Assigns the number of a new node.
  func takeNodeNumber() throws -> UInt64 {
    let node = state.counters.nextNode
    guard node <= RecordKey.nodeMaximum else {
      throw StoreError(.invalidModel, "", "the store has given out all its node numbers")
    }
    state.counters.nextNode += 1
    return node
  }
}

extension RecordKey {
  var nodeKey: IntegerKey { IntegerKey(node) }
}

/// The children of one record, without duplicates, with the kinds of all edges to each.
///
/// A sorted list instead of a dictionary: most records have few children.
struct ChildKinds {
  private(set) var entries: [(child: UInt64, kinds: EdgeKinds)] = []

  /// Joins edges to one child as several types.
  ///
  /// - Parameter edges: Sorted by child, as from encoders and `RecordBody.edges`.
  init(_ edges: ArraySlice<RecordEdge>) {
    entries.reserveCapacity(edges.count)
    for edge in edges {
      if let last = entries.last, last.child == edge.child.node {
        entries[entries.count - 1].kinds.formUnion(edge.kinds)
      } else {
        entries.append((edge.child.node, edge.kinds))
      }
    }
  }

  subscript(child: UInt64) -> EdgeKinds? {
    entries.binarySearch(for: child, by: \.child).map { entries[$0].kinds }
  }
}
