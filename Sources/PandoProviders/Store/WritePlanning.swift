import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem

/// Derives the changes of a manager's live trees from the models that were passed to a write.
struct WritePlanning {
  private let bridge: StoreBridge
  private let write: CommitEffects
  private let own: (any ManagedOperation)?

  init(_ bridge: StoreBridge, _ write: CommitEffects) {
    self.bridge = bridge
    self.write = write
    own = bridge.operation(of: write)
  }

  var plan: CommitPlan {
    if let own {
      if write.content.hasRenamed || needsList(own) { return .read }
      if write.changeSet == nil { return place(own) }
    }
    let consistency = bridge.consistency
    let changeSet = write.changeSet
    let deleted = changeSet?.deleted ?? []
    let named = bridge.releaseNodes(of: write)
    let changed = liveNodes(changeSet, named)
    let lists = (changeSet?.collections ?? []).compactMap { entry in
      bridge.topics.topic(ByteString(entry.cacheKey)).map { (entry, $0) }
    }
    if mayRepair { return .read }
    if own == nil, changed.isEmpty, lists.isEmpty, consistency.liveNodes(among: deleted).isEmpty {
      return .nothing
    }
    var update = own?.makeUpdate() ?? LiveUpdate()
    if update.isAmbiguous { return .read }
    update.operation = own
    update.changeSet = changeSet
    if own == nil {
      update.context = write.context
      if let changeSet { update.date = changeSet.date }
    }
    guard addNodes(changed, to: &update) else { return .read }
    update.deleted.formUnion(deleted.map { ByteString($0) })
    // A write that also sets nodes is read instead.
    if write.content.isPlain, write.content.hasDeletes {
      update.deleted.formUnion(named.map { ByteString($0) })
    }
    let saysElements = lists.isEmpty || WrittenNodes.areAllStored(in: write.content)
    for (entry, topic) in lists {
      let key = ByteString(entry.cacheKey)
      let content = saysElements ? write.content.lists[key] : nil
      guard let commit = topic.commit(entry.change, content, own) else {
        return .read
      }
      update.topics[key] = commit
    }
    return .show(update)
  }

  /// Returns true if a change may make an undecodable node decodable.
  private var mayRepair: Bool {
    if bridge.unread.isEmpty, !bridge.topics.mayHide { return false }
    let nodes = Set(write.nodes)
    return bridge.unread.wait(for: nodes) || !bridge.topics.hiding(nodes).isEmpty
  }

  /// Returns true if an edit changed other positions in the stored list than in the shown one.
  private func needsList(_ operation: any ManagedOperation) -> Bool {
    guard operation.isWritten, let key = operation.collectionKey,
      let topic = bridge.topics.topic(ByteString(key))
    else { return false }
    return topic.commit(.changes([]), nil, operation) == nil
  }

  /// Returns the live nodes that the write has changed, or names without a change, each once.
  private func liveNodes(
    _ changeSet: ChangeSet?, _ named: [String]
  ) -> [(identifier: ByteString, types: [any SimpleModel.Type])] {
    let (updated, inserted) = (changeSet?.updated ?? [], changeSet?.inserted ?? [])
    if named.isEmpty { return bridge.consistency.liveNodes(among: updated, and: inserted) }
    let all = Set((updated + inserted + named).map { ByteString($0) })
    return bridge.consistency.liveNodes(among: all.ordered().map(\.text))
  }

  /// Plans an operation without a change set: a change in memory, or one that the store had before.
  private func place(_ operation: any ManagedOperation) -> CommitPlan {
    guard operation.isChange else { return .nothing }
    operation.attach(bridge.consistency.scope)
    if bridge.refuse(operation) { return .nothing }
    var update = operation.makeUpdate()
    update.operation = operation
    guard let refusal = update.refusal else { return .show(update) }
    bridge.consistency.scope.refuse(operation, refusal)
    return .nothing
  }

  /// Adds the live nodes that the models of the write determine.
  ///
  /// - Returns: `false` if the models do not suffice.
  private func addNodes(
    _ live: [(identifier: ByteString, types: [any SimpleModel.Type])], to update: inout LiveUpdate
  ) -> Bool {
    if live.isEmpty { return true }
    guard write.content.isPlain else { return false }
    // The remaining nodes have lost children, and live trees lose them in the same way.
    if write.content.hasDeletes { return true }
    if own != nil, live.allSatisfy({ update.gives($0.identifier, as: $0.types) }) { return true }
    guard own == nil, let given = WrittenNodes(live.map(\.identifier), in: write.content) else {
      return false
    }
    for node in live {
      guard let model = given[node.identifier], node.types.count == 1,
        type(of: model) == node.types[0]
      else { return false }
      update.addStored(model, node.identifier.text)
    }
    return true
  }
}

extension LiveUpdate {
  /// Returns true if the update has a node in exactly one type, and the node is live in that type
  /// only.
  fileprivate func gives(_ identifier: ByteString, as types: [any SimpleModel.Type]) -> Bool {
    guard let given = versions[identifier]?.given, given.count == 1, types.count == 1 else {
      return false
    }
    return type(of: given[0]) == types[0]
  }
}
