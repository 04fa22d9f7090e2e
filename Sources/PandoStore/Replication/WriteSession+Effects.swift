import PandoModels
import PandoRecords
import PandoSystem

extension WriteSession {
  /// Returns the effects of the write that has just ended.
  ///
  /// - Parameters:
  ///   - changeSet: Its changes; `nil` if there are none.
  ///   - firstNode: The first node number that the flush could assign.
  /// - Returns: Its effects, with the names of referenced nodes and types.
  /// - Throws: ``StoreError`` `damaged` if rows contradict each other.
  func effects(of changeSet: ChangeSet?, firstNode: UInt64) throws -> WriteEffects {
    var effects = WriteEffects()
    guard let notes = state.notes else { return effects }
    effects.isWholeStore = notes.isWholeStore
    effects.isCommit = changeSet != nil
    effects.rules = try notes.ruledTypes.map { name in
      let rules = try reading { try $0.deletionRules(ofTypeNamed: name) } ?? DeletionRules([])
      return WriteEffects.Rules(name, String(decoding: rules.bytes, as: UTF8.self))
    }
    effects.indexes = notes.indexes.map { WriteEffects.IndexEdit($0.index, isAdded: $0.isAdded) }
    for node in notes.askedFor {
      // A node that the write has removed again is not asked for in the end.
      guard let row = try reading({ try $0.summary(of: node) }) else { continue }
      effects.askedFor.append(row.identifier)
    }
    // A write of rows of this store alone leaves them to the next write.
    if changeSet != nil || !effects.isEmpty || !notes.hasLocalChanges {
      effects.schemas = exchange(&state.schemas, with: []).map {
        WriteEffects.Schema($0.typeName, $0.version, migratedFrom: $0.migratedFrom)
      }
    }
    guard let changeSet else { return effects }
    effects.removed = changeSet.deleted
    for identifier in changeSet.inserted + changeSet.updated {
      guard let node = try reading({ try $0.node(identifier) }) else {
        preconditionFailure("\(identifier) was written and is not there")
      }
      let isNew = node >= notes.firstNewNode
      effects.nodes.append(
        try change(
          ofNode: node, identifier, offset: isNew ? node - firstNode : nil,
          commitNumber: changeSet.commitNumber.value))
    }
    // A node that was deleted and stored again has a new number.
    for (identifier, node) in zip(
      changeSet.updated, effects.nodes.dropFirst(changeSet.inserted.count))
    where node.offset != nil { effects.removed.append(identifier) }
    for update in changeSet.collections {
      // The steps of a new list need an existing one.
      if case .changes = update.change, notes.newLists.contains(update.cacheKey) {
        effects.lists.append(WriteEffects.List(update.cacheKey, .whole([])))
      }
      effects.lists.append(
        WriteEffects.List(update.cacheKey, try edit(update, notes.elements)))
    }
    return effects
  }

  private func change(
    ofNode node: UInt64, _ identifier: String, offset: UInt64?, commitNumber: UInt64
  ) throws -> WriteEffects.Node {
    try reading { reader in
      guard let row = try reader.nodeRow(node) else {
        throw StoreError.damaged(identifier, "its node has no row")
      }
      var records: [WriteEffects.Record] = []
      for index in 0..<row.recordCount where row.header(index).commitNumber == commitNumber {
        records.append(
          WriteEffects.Record(
            typeName: try directory.name(ofTypeNumber: row.type(index), in: reader),
            body: try named(Array(copying: row.body(index)), reader)))
      }
      return WriteEffects.Node(
        identifier, offset: offset, isAskedFor: row.isAskedFor, records: records)
    }
  }

  /// A body with the names of its children.
  private func named(
    _ bytes: [UInt8], _ reader: borrowing StoreReader
  ) throws -> WriteEffects.Body {
    var children: [WriteEffects.Child] = []
    for edge in try RecordBody.edges(in: bytes.span) {
      children.append(
        WriteEffects.Child(
          edge.child, identifier: try reader.identifier(of: edge.child.node),
          typeName: try directory.name(ofTypeNumber: edge.child.type, in: reader)))
    }
    return WriteEffects.Body(bytes: bytes, children: children)
  }

  private func edit(
    _ update: CollectionUpdate, _ brought: [ByteString: [CollectionElement]]
  ) throws -> WriteEffects.ListEdit {
    switch update.change {
    case .changes(let steps):
      let elements = brought[ByteString(update.cacheKey)] ?? []
      return .steps(steps, bringing: try elements.map { try element($0) })
    case .reset:
      let stored = try reading { try $0.elements(of: update.cacheKey, in: nil) { $0 } }
      return try stored.map { .whole(try $0.map { try element($0) }) } ?? .removed
    }
  }

  private func element(_ element: CollectionElement) throws -> WriteEffects.Element {
    try reading { reader in
      switch element {
      case .node(let reference):
        guard let row = try reader.summary(of: reference.node) else { return .passing }
        return .node(
          identifier: row.identifier,
          typeName: try directory.name(ofTypeNumber: reference.type, in: reader))
      case .value(let body):
        for edge in try RecordBody.edges(in: body.span)
        where try !reader.contains(node: edge.child.node) { return .passing }
        return .value(try named(body, reader))
      }
    }
  }
}
