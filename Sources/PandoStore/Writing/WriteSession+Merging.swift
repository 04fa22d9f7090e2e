import PandoLMDB
import PandoModels
import PandoRecords

extension WriteSession {
  /// Merges a written record into the other records of its node.
  ///
  /// A registered type with its own `merge(_:)` uses that. Other types merge by field: fields of
  /// the same name are copied, all others stay. A field that the other type can't decode keeps its
  /// value, and the store reports that.
  func mergeIntoOtherProjections(
    from record: PendingRecords.Record, of pending: PendingRecords
  ) throws {
    let source = RecordKey(record.reference)
    let row = try reading { try $0.requiredSummary(of: source.node) }
    guard let body = try storedBody(of: source) else { return }
    let value = body[...] == pending.body(of: record) ? pending.value(of: record) : nil
    for type in row.types where type != source.type {
      let target = RecordKey(type: type, node: source.node)
      guard let stored = try storedBody(of: target) else { continue }
      let merged: [UInt8]?
      if let own = try mergedByModel(into: target, from: source, stored: stored, value: value) {
        merged = own == stored ? nil : own
      } else {
        merged = try mergedByField(
          into: target, stored: stored.span, from: body.span, identifier: row.identifier)
      }
      guard let merged else { continue }
      let edges = try RecordBody.edges(in: merged.span)
      try refuseCycle(target, edges: edges[...])
      try putRecord(target, body: merged[...], replacing: stored, edges: edges[...])
      state.changes.update(target.node, row.identifier)
    }
  }

  /// Merges a record without children into the others of its node, before it is written, so that
  /// one row write is enough.
  ///
  /// - Parameters:
  ///   - source: The record.
  ///   - body: Its new body.
  ///   - row: The stored row of the node.
  ///   - identifier: The node's identifier.
  ///   - new: The row with the new record; receives the others.
  /// - Returns: The other changed records with stored and new bodies. `nil`, without effect, if one
  ///   refers to children, merges by itself, or contributes to others' index rows.
  /// - Throws: ``StoreError`` `damaged`; `LMDBError`.
  func mergedRecords(
    besides source: RecordKey, _ body: ArraySlice<UInt8>, _ row: borrowing NodeRow,
    _ identifier: String, _ new: inout [UInt8]
  ) throws -> [(key: RecordKey, stored: [UInt8], body: [UInt8])]? {
    _ = try indexes(ofType: source.type)
    guard state.childTypes.isEmpty else { return nil }
    for index in 0..<row.recordCount where row.type(index) != source.type {
      guard try mergingType(row.type(index)) == nil else { return nil }
      guard try RecordBody.edges(in: row.body(index)).isEmpty else { return nil }
    }
    var merged: [(key: RecordKey, stored: [UInt8], body: [UInt8])] = []
    for index in 0..<row.recordCount where row.type(index) != source.type {
      let key = RecordKey(type: row.type(index), node: source.node)
      let stored = row.body(index)
      guard row.header(index).matches(stored) else {
        throw reading { $0.damagedChecksum(of: key) }
      }
      let merge = try mergedByField(
        into: key, stored: stored, from: body.span, identifier: identifier)
      guard let merge else { continue }
      let record = NodeRowBytes.Record(
        type: key.type, commitNumber: nextCommitNumber, body: merge[...])
      new = NodeRowBytes.row(try NodeRow(new.span, node: source.node), with: record)
      merged.append((key, Array(copying: stored), merge))
    }
    return merged
  }

  /// The Swift type of a number, if it is registered and may have its own `merge(_:)`.
  private func mergingType(_ number: UInt32) throws -> (any (Model & Codable).Type)? {
    let name = try typeName(number)
    guard let type = directory.swiftType(named: name) else {
      core.reportUnlessKnown(typeNamed: name)
      return nil
    }
    guard let type = type as? any (Model & Codable).Type,
      !ModelChildren.mergesByDefault(type)
    else { return nil }
    return type
  }

  /// Merges with the target type's own `merge(_:)`, if both types are registered and it has one.
  private func mergedByModel(
    into target: RecordKey, from source: RecordKey, stored: [UInt8], value: (any SimpleModel)?
  ) throws -> [UInt8]? {
    guard let type = try mergingType(target.type) else { return nil }
    guard let new = try value as? any Model ?? model(of: source) else {
      core.reportUnlessKnown(typeNamed: try typeName(source.type))
      return nil
    }
    // An undecodable record is merged by field.
    guard let old = try? decode(type, from: stored) as any Model else { return nil }
    let merged = old.merge(new)
    if ModelChildren.mergesByDefault(type) { return nil }
    guard Swift.type(of: merged) == type, let merged = merged as? any Model & Encodable else {
      throw StoreError(
        .invalidModel, String(describing: type), "merge(_:) returned a value of another type")
    }
    let collector = RecordCollector(self)
    let reference = try RecordEncoder(sink: collector).encode(merged)
    guard reference.node == target.node,
      let record = unsafe collector.pending.records.last
    else {
      throw StoreError(
        .invalidModel, String(describing: type), "merge(_:) returned another modelIdentifier")
    }
    try unsafe storeNewNodes(of: collector.pending)
    return unsafe Array(collector.pending.body(of: record))
  }

  /// Stores new nodes from a type's own `merge(_:)`; nodes of the two models are already stored.
  private func storeNewNodes(of pending: PendingRecords) throws {
    for record in pending.effective().records where record.isNewNode {
      guard try !reading({ try $0.contains(node: record.reference.node) }) else { continue }
      try putNode(record, of: pending, isAskedFor: false)
      noteGrowth(of: RecordKey(record.reference), 0, pending.edges(of: record))
      state.changes.insert(record.reference.node, record.identifier)
    }
  }

  /// The model of a record, if its Swift type is registered.
  private func model(of key: RecordKey) throws -> (any Model)? {
    guard let type = directory.swiftType(named: try typeName(key.type)),
      let modelType = type as? any (Model & Decodable).Type, let body = try storedBody(of: key)
    else { return nil }
    return try decode(modelType, from: body)
  }

  private func decode<M: Decodable>(_ type: M.Type, from body: [UInt8]) throws -> M {
    try reading { reader in
      var source = SnapshotSource.begin(reader)
      defer { SnapshotSource.end(&source) }
      return try unsafe body.withUnsafeBytes { bytes in
        try unsafe source.decode(type, from: bytes)
      }
    }
  }

  /// Merges by field; a field that the target's Swift type can't decode keeps its value.
  ///
  /// - Returns: `nil` if nothing changes.
  private func mergedByField(
    into target: RecordKey, stored: Span<UInt8>, from body: Span<UInt8>, identifier: String
  ) throws -> [UInt8]? {
    let typeName = try typeName(target.type)
    let swiftType = directory.swiftType(named: typeName)
    let type = swiftType as? any Decodable.Type
    // A value is merged into the field that the type reads, even under a former name.
    if let swiftType, directory.hasHistory(swiftType),
      try !hasNewerSchema(than: swiftType, named: typeName),
      let present = try RecordPresentForm.body(stored, of: swiftType)
    {
      return try merged(
        into: present.span, typeName, type, from: body, identifier: identifier)
    }
    return try merged(into: stored, typeName, type, from: body, identifier: identifier)
  }

  private func merged(
    into stored: Span<UInt8>, _ typeName: String, _ type: (any Decodable.Type)?,
    from body: Span<UInt8>, identifier: String
  ) throws -> [UInt8]? {
    var kept: Set<String> = []
    var reported: Set<String> = []
    while true {
      let merge = try RecordBody.merging(
        body, into: stored, policy: .projection, leaving: kept)
      for field in merge.keptFields where reported.insert(field).inserted {
        core.report(.fieldKept(identifier: identifier, typeName: typeName, field: field))
      }
      guard let merged = merge.body else { return nil }
      guard let type else { return merged }
      do {
        _ = try decode(type, from: merged)
        return merged
      } catch let error as ModelError {
        guard let field = error.topField, kept.insert(field).inserted else { return merged }
        core.report(.fieldKept(identifier: identifier, typeName: typeName, field: field))
      }
    }
  }

  /// Merges an untyped tree: at every node, the given fields are copied and all others stay.
  ///
  /// A missing node is stored as given.
  func merge(_ tree: TreeNode) throws {
    let collector = RecordCollector(self)
    var encoder = TreeEncoder(sink: collector)
    let root = try encoder.encode(tree)
    try merge(collector, root: root.node)
  }

  /// Merges a model into the node's records; stores it if the node has no record of its type.
  func merge(_ model: some SimpleModel & Encodable) throws {
    let collector = RecordCollector(self)
    let root = try RecordEncoder(sink: collector).encode(model)
    try merge(collector, root: root.node)
  }

  private func merge(_ collector: RecordCollector, root: UInt64) throws {
    let pending = unsafe collector.pending
    for record in pending.records {
      let key = RecordKey(record.reference)
      let given = Array(pending.body(of: record))
      let target = try reading { reader in
        try reader.recordKey(node: key.node, preferring: key.type)
      }
      var overlaid = PendingRecords(firstNewNode: state.counters.nextNode)
      var body = given
      if let target, let stored = try storedBody(of: target) {
        let policy: RecordMerge.Policy = target.type == key.type ? .update : .projection
        body =
          try RecordBody.merging(given.span, into: stored.span, policy: policy).body ?? stored
      }
      let reference = target?.reference ?? key.reference
      let edges = try RecordBody.edges(in: body.span)
      unsafe body.withUnsafeBytes { bytes in
        unsafe overlaid.append(
          reference, identifier: record.identifier, body: bytes, edges: edges)
      }
      try store(overlaid, mayCloseCycle: true, root: root)
    }
  }

  /// Refuses a record whose new edges lead back to it.
  ///
  /// - Parameters:
  ///   - target: The record.
  ///   - edges: Its new edges.
  ///   - stored: The stored body of the record, whose references close no cycle.
  /// - Throws: ``StoreError`` `cyclicModel`, before the record is written.
  /// - Complexity: O(*d* log *n*) for *d* new descendants.
  func refuseCycle(
    _ target: RecordKey, edges: ArraySlice<RecordEdge>, known stored: [UInt8]? = nil
  ) throws {
    if edges.isEmpty { return }
    try reading { reader in
      // References to a node as a type without a record lead to its newest record.
      let isNewest = try reader.recordKey(node: target.node, preferring: nil) == target
      let known = try Set(
        (isNewest ? stored : nil).map { try RecordBody.edges(in: $0.span).map(\.child) } ?? [])
      var seen: Set<RecordKey> = []
      var frontier = edges.map(\.child).filter { !known.contains($0) }
      while let next = frontier.popLast() {
        guard let key = try reader.recordKey(node: next.node, preferring: next.type) else {
          if next.node == target.node { throw cycle(target, reader) }
          continue  // a node of the same tree, whose record comes later
        }
        // A reference to a type without a record leads to the newest one, which the target will be.
        if key == target || key.node == target.node && key.type != next.type {
          throw cycle(target, reader)
        }
        guard seen.insert(key).inserted, let body = try reader.body(of: key) else { continue }
        frontier += try RecordBody.edges(in: body).map(\.child)
      }
    }
  }

  private func cycle(_ target: RecordKey, _ reader: borrowing StoreReader) -> StoreError {
    let identifier = (try? reader.identifier(of: target.node)) ?? "node \(target.node)"
    return StoreError(
      .cyclicModel, identifier, "would contain itself; a tree of models has no cycles")
  }
}
