import PandoConsistency
import PandoModels
import PandoStore

/// A failure to read a node or list that live trees show.
struct ReadFailure: Sendable {
  let error: any Error
  /// An identifier or a cache key.
  let key: ByteString
  /// `nil` for a list.
  let type: (any SimpleModel.Type)?
  /// If the node can't be decoded, the node and all nodes that it contains.
  var nodes: Set<ByteString> = []
  /// True if the failure was reported before.
  var isRepeated = false
}

/// Reads the data that live trees need after several commits.
///
/// `update` and `failures` are the results. `changed`, `touched`, `renewed` and `given` are computed
/// from the group, `own`, `shown` and `named` from its writes. Used on the pipeline only.
final class GroupReading {
  private let bridge: StoreBridge
  private let group: CommitGroup
  /// The operations of this manager in the group, in order.
  private var own: [any ManagedOperation] = []
  private var scope: PipelineScope { bridge.consistency.scope }
  private(set) var update = LiveUpdate()
  /// The failed reads.
  private(set) var failures: [ReadFailure] = []
  /// The changed nodes that are to be read.
  private var changed: Set<ByteString>
  /// The nodes that the commits inserted, updated or deleted.
  private let touched: Set<ByteString>
  /// The changed nodes that were deleted in between.
  private let renewed: Set<ByteString>
  /// The models of nodes that operations have set in memory; none for a deleted node.
  ///
  /// A later write that sets or deletes the node takes it out.
  private var shown: [ByteString: [any SimpleModel]] = [:]
  /// The nodes of operations, and live nodes that writes name, also without changing them.
  ///
  /// They are read, because live trees may show them otherwise.
  private var named: Set<ByteString> = []
  /// The models of live nodes that need no read.
  private var given: [ByteString: any SimpleModel] = [:]

  init(_ bridge: StoreBridge, _ group: CommitGroup) {
    self.bridge = bridge
    self.group = group
    changed = Set(group.changed)
    touched = changed.union(group.deleted)
    renewed = Set(group.renewed)
    update.deleted = Set(group.deleted)
  }

  /// Reads the data.
  ///
  /// A node that can't be read is reported, and stays unchanged in the live trees.
  func read(_ snapshot: ModelSnapshot) {
    if let newest = group.newest {
      update.changeSet = newest
      update.context = newest.context
      update.date = newest.date
    } else {
      update.context = group.writes.last?.context
    }
    scope.overlay.release(touched)
    let live = bridge.consistency.liveNodes(among: group.changed.map(\.text))
    given = group.given(for: live.map(\.identifier))
    addOperations(snapshot)
    update.operation = own.last
    update.earlierOperations = own.dropLast()
    for (identifier, types) in bridge.consistency.liveNodes(among: changed.map(\.text)) {
      for type in types { read(identifier, as: type, snapshot) }
    }
    readUndecodable(snapshot)
    let others = listsWithUndecodable()
    var keys = Set<ByteString>()
    for (key, changes) in group.collections {
      keys.insert(key)
      read(key, changes, snapshot)
    }
    for operation in own {
      guard let key = operation.collectionKey.map({ ByteString($0) }), keys.insert(key).inserted
      else { continue }
      read(key, [], snapshot)
    }
    for key in others where keys.insert(key).inserted { read(key, [], snapshot) }
    if group.hasExpired { readEverything(snapshot) }
    update.isNested = !own.isEmpty || scope.overlay.isUsed
    if scope.overlay.isUsed { addOverlay() }
  }

  /// Reads nodes again that could not be decoded before.
  private func readUndecodable(_ snapshot: ModelSnapshot) {
    for identifier in bridge.unread.take(touched)
    where !changed.contains(identifier) && !update.deleted.contains(identifier) {
      for type in bridge.consistency.liveTypes(of: identifier.text) {
        read(identifier, as: type, snapshot, isRepeated: true)
      }
    }
  }

  /// Returns the lists that need a read because of undecodable nodes.
  ///
  /// They show a node that became undecodable, or hide an element with a changed node.
  private func listsWithUndecodable() -> [ByteString] {
    var lists = bridge.topics.hiding(touched)
    var unread: Set<ByteString> = []
    for failure in failures where failure.type != nil && failure.error is ModelError {
      unread.insert(failure.key)
    }
    if unread.isEmpty { return lists }
    for (key, topic) in bridge.topics.all where topic.loses(unread) { lists.append(key) }
    return lists
  }

  /// Adds nodes of the overlay that no commit has changed.
  ///
  /// Needed where a list or tree that was read contains such a node in its stored form.
  private func addOverlay() {
    var nodes: Set<ByteString> = []
    for commit in update.topics.values {
      for model in (commit as? any CommittedElements)?.models ?? [] {
        nodes.formUnion(model.nodeIdentifiers)
      }
    }
    for (_, versions) in update.versions {
      for model in versions.stored { nodes.formUnion(model.nodeIdentifiers) }
    }
    nodes.subtract(changed)
    nodes.subtract(update.deleted)
    scope.addOverlay(of: nodes.filter { update.versions[$0] == nil }, to: &update)
  }

  /// Adds the changes of this manager's operations.
  private func addOperations(_ snapshot: ModelSnapshot) {
    var changes: [LiveUpdate] = []
    for write in group.writes where write.failure == nil {
      takeOut(write, snapshot)
      guard let operation = bridge.operation(of: write), operation.isChange else { continue }
      operation.attach(scope)
      if bridge.isInMemory(write), bridge.refuse(operation) { continue }
      let change = operation.makeUpdate()
      changes.append(change)
      named.formUnion(change.versions.keys + change.deleted)
      if operation.isStored {
        scope.overlay.release(change.versions.keys)
        for node in change.versions.keys + change.deleted { shown[node] = nil }
      } else {
        scope.overlay.use()
        addDeletion(change.deleted, isStored: false)
        for (node, versions) in change.versions { shown[node] = versions.given }
        for node in change.deleted { shown[node] = [] }
      }
      own.append(operation)
    }
    // The position of deletions by other processes is unknown, so they come before all operations.
    let known = update.deletions.reduce(into: Set<ByteString>()) { known, deletion in
      if deletion.isStored { known.formUnion(deletion.nodes) }
    }
    addDeletion(renewed.union(group.deleted).subtracting(known), at: 0, isStored: true)
    for node in named where shown[node] == nil && !touched.contains(node) {
      guard let isStored = isStored(node, snapshot) else { continue }
      if isStored { changed.insert(node) } else { update.deleted.insert(node) }
    }
    changed.subtract(shown.keys)
    update.deleted.subtract(shown.keys)
    for change in changes {
      for (node, versions) in change.versions
      where changed.contains(node) || group.hasExpired && shown[node] == nil {
        for model in versions.given { read(node, as: type(of: model), snapshot) }
      }
    }
    addShown(snapshot)
  }

  /// Takes the nodes of a write out of what earlier operations of the group have set in memory.
  private func takeOut(_ write: CommitEffects, _ snapshot: ModelSnapshot) {
    let names = bridge.releaseNodes(of: write)
    for (node, _) in bridge.consistency.liveNodes(among: names) { named.insert(node) }
    if !shown.isEmpty {
      for node in names.map({ ByteString($0) }) + write.nodes { shown[node] = nil }
    }
    let unfound = write.content.deletes.filter { node in
      touched.contains(ByteString(node)) || isStored(ByteString(node), snapshot) != true
    }
    let deleted = (write.changeSet?.deleted ?? []) + unfound
    addDeletion(Set(deleted.map { ByteString($0) }), isStored: true)
  }

  /// Adds what the operations have set in memory.
  private func addShown(_ snapshot: ModelSnapshot) {
    let stale = Set(group.changed)
    for (node, models) in shown {
      if models.isEmpty {
        update.deleted.insert(node)
        update.hidden.insert(node)
        continue
      }
      update.give(models, node)
      // Trees with other types of the node merge the change into the stored model.
      for type in stale.contains(node) ? bridge.consistency.liveTypes(of: node.text) : []
      where !models.contains(where: { Swift.type(of: $0) == type }) {
        read(node, as: type, snapshot, merging: models)
      }
    }
  }

  /// Adds a deletion after the operations found so far, or at another place.
  private func addDeletion(_ nodes: Set<ByteString>, at place: Int? = nil, isStored: Bool) {
    if nodes.isEmpty { return }
    update.deletions.append(
      (nodes: nodes, place: place ?? own.count, isStored: isStored))
  }

  /// Returns true if a node is stored; `nil` if that can't be read.
  private func isStored(_ node: ByteString, _ snapshot: ModelSnapshot) -> Bool? {
    do {
      return try snapshot.contains(node.text)
    } catch {
      failures.append(ReadFailure(error: error, key: node, type: nil))
      return nil
    }
  }

  /// Reads a node in a type, once, and merges newer models into it.
  private func read(
    _ identifier: ByteString, as type: any SimpleModel.Type, _ snapshot: ModelSnapshot,
    merging newer: [any SimpleModel] = [], isRepeated: Bool = false
  ) {
    func add(_ model: any SimpleModel) {
      let merged = newer.reduce(model) { older, newer in
        guard let model = older as? any Model, let newer = newer as? any Model else { return older }
        return model.merge(newer)
      }
      update.addStored(merged, identifier.text)
    }
    let isRead = update.versions[identifier]?.stored.contains { Swift.type(of: $0) == type }
    if isRead == true { return }
    if renewed.contains(identifier) { update.versions[adding: identifier].followsDeletion = true }
    if let model = given[identifier], Swift.type(of: model) == type {
      return add(model)
    }
    do {
      if let model = try snapshot.live(identifier.text, as: type) { add(model) }
    } catch {
      var failure = ReadFailure(
        error: error, key: identifier, type: type, isRepeated: isRepeated)
      if error is ModelError {
        failure.nodes = [identifier]
        for node in (try? snapshot.nodes(beneath: identifier.text)) ?? [] {
          failure.nodes.insert(ByteString(node))
        }
      }
      failures.append(failure)
    }
  }

  private func read(
    _ cacheKey: ByteString, _ changes: [CollectionChange]?, _ snapshot: ModelSnapshot
  ) {
    guard let topic = bridge.topics.topic(cacheKey) else { return }
    do {
      update.topics[cacheKey] = try topic.read(changes, own, in: snapshot)
    } catch {
      failures.append(ReadFailure(error: error, key: cacheKey, type: nil))
    }
  }

  /// Reads all live nodes and lists, because the changes are unknown.
  private func readEverything(_ snapshot: ModelSnapshot) {
    for (identifier, types) in bridge.consistency.liveNodes() {
      do {
        guard try snapshot.contains(identifier.text) else {
          // It may be in the manager's own store.
          if bridge.main == nil { update.deleted.insert(identifier) }
          continue
        }
        for type in types { read(identifier, as: type, snapshot) }
      } catch {
        failures.append(ReadFailure(error: error, key: identifier, type: nil))
      }
    }
    for (key, _) in bridge.topics.all { read(key, nil, snapshot) }
  }
}
