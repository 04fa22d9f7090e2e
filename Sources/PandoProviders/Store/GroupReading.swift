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
/// `update` and `failures` are the results. `changed`, `touched` and `given` are computed from the
/// group. Used on the pipeline only.
final class GroupReading {
  private let bridge: StoreBridge
  private let group: CommitGroup
  /// The operations of this manager in the group, in order.
  private var own: [any ManagedOperation] = []
  private(set) var update = LiveUpdate()
  /// The failed reads.
  private(set) var failures: [ReadFailure] = []
  /// The changed nodes that are to be read.
  private var changed: Set<ByteString>
  /// The nodes that the commits inserted, updated or deleted.
  private let touched: Set<ByteString>
  /// The models of live nodes that need no read.
  private var given: [ByteString: any SimpleModel] = [:]

  init(_ bridge: StoreBridge, _ group: CommitGroup) {
    self.bridge = bridge
    self.group = group
    changed = Set(group.changed)
    touched = changed.union(group.deleted)
    update.deleted = Set(group.deleted)
    update.renewed = Set(group.renewed)
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
    let scope = bridge.consistency.scope
    scope.bringBack(group.changed)
    scope.bringBack(group.deleted)
    if !bridge.differsInMemory {
      let live = bridge.consistency.liveNodes(among: group.changed.map(\.text))
      given = group.given(for: live.map(\.identifier))
    }
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
    if bridge.differsInMemory { overlay() }
    if !scope.vanished.isEmpty { update.isNested = true }
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

  /// Adds data set in memory to nodes that no commit has changed.
  ///
  /// Needed where a list or tree that was read contains such a node in its stored form.
  private func overlay() {
    var nodes: Set<ByteString> = []
    for commit in update.topics.values {
      for model in (commit as? any CommittedElements)?.models ?? [] {
        nodes.formUnion(model.nodeIdentifiers)
      }
    }
    for (_, versions) in update.versions {
      for model in versions.stored { nodes.formUnion(model.nodeIdentifiers) }
    }
    update.overlaysLists = true
    nodes.subtract(changed)
    nodes.subtract(update.deleted)
    nodes = nodes.filter { update.versions[$0] == nil }
    for (node, models) in bridge.consistency.scope.liveModels(of: nodes, asksListeners: false) {
      for model in models { update.addStored(model, node.text) }
      update.isNested = true
    }
  }

  /// Adds the changes of this manager's operations.
  ///
  /// A change in memory applies unless a later commit of this process has changed the node. A
  /// stored change also applies if the store had the same data before.
  private func addOperations(_ snapshot: ModelSnapshot) {
    var inMemory: [ByteString: [any SimpleModel]?] = [:]
    var all: [(given: LiveUpdate, isStored: Bool)] = []
    var named: Set<ByteString> = []
    for write in group.writes where write.failure == nil {
      for identifier in bridge.named(by: write) {
        inMemory.removeValue(forKey: ByteString(identifier))
        named.insert(ByteString(identifier))
      }
      if !inMemory.isEmpty, let changeSet = write.changeSet {
        for identifier in [changeSet.updated, changeSet.inserted, changeSet.deleted].joined() {
          inMemory.removeValue(forKey: ByteString(identifier))
        }
      }
      let unfound = write.content.deletes.filter { !isBack(ByteString($0), snapshot) }
      for identifier in (write.changeSet?.deleted ?? []) + unfound {
        update.departed[ByteString(identifier), default: []].append(own.count)
        update.storedDeparted[ByteString(identifier), default: []].append(own.count)
      }
      guard let operation = bridge.operation(of: write), operation.isChange else { continue }
      operation.attach(bridge.consistency.scope)
      if bridge.isInMemory(write), bridge.refuse(operation) { continue }
      let given = operation.makeUpdate()
      let isStored = operation.isStored
      all.append((given, isStored))
      let place = own.count
      own.append(operation)
      if isStored {
        bridge.consistency.scope.bringBack(given.versions.keys)
        if inMemory.isEmpty { continue }
        // The nodes that it names count as stored, although earlier operations may have set them in
        // memory.
        for (identifier, _) in given.versions { inMemory.removeValue(forKey: identifier) }
        for identifier in given.deleted { inMemory.removeValue(forKey: identifier) }
        continue
      }
      for identifier in given.deleted { update.departed[identifier, default: []].append(place) }
      for (identifier, versions) in given.versions { inMemory[identifier] = versions.given }
      for identifier in given.deleted { inMemory[identifier] = .some(nil) }
    }
    // The position of deletions by other processes is unknown, so they come before all operations.
    for identifier in group.deleted + group.renewed
    where update.storedDeparted[identifier] == nil {
      update.departed[identifier, default: []].append(0)
      update.storedDeparted[identifier] = [0]
    }
    bridge.consistency.scope.bringBack(named)
    addNamed(named, snapshot)
    changed.subtract(inMemory.keys)
    update.deleted.subtract(inMemory.keys)
    update.renewed.subtract(inMemory.keys)
    update.isNested = !all.isEmpty
    for (given, isStored) in all { add(given, isStored, besides: inMemory, snapshot) }
    let stale = Set(group.changed)
    for (identifier, models) in inMemory {
      guard let models else {
        update.deleted.insert(identifier)
        update.vanished.insert(identifier)
        continue
      }
      update.give(models, identifier)
      if stale.contains(identifier) { addOthers(identifier, models, snapshot) }
    }
  }

  /// Adds nodes that writes name without changing them in the store.
  ///
  /// Live trees may show them otherwise.
  private func addNamed(_ named: Set<ByteString>, _ snapshot: ModelSnapshot) {
    let unknown = named.filter { !changed.contains($0) && !update.deleted.contains($0) }
    if unknown.isEmpty { return }
    for (identifier, _) in bridge.consistency.liveNodes(among: unknown.map(\.text)) {
      do {
        if try snapshot.contains(identifier.text) {
          changed.insert(identifier)
        } else {
          update.deleted.insert(identifier)
        }
      } catch {
        failures.append(ReadFailure(error: error, key: identifier, type: nil))
      }
    }
  }

  /// Returns true if a node is stored, although a write deleted it without effect and no commit
  /// inserted it.
  ///
  /// The store lacked the node at the write. A commit of another process, already shown, has
  /// inserted it.
  private func isBack(_ identifier: ByteString, _ snapshot: ModelSnapshot) -> Bool {
    if !group.hasExpired, touched.contains(identifier) { return false }
    do {
      return try snapshot.contains(identifier.text)
    } catch {
      failures.append(ReadFailure(error: error, key: identifier, type: nil))
      return false
    }
  }

  /// Adds a node in the types in which a change in memory has no model for it.
  ///
  /// The change is merged into the stored model.
  private func addOthers(
    _ identifier: ByteString, _ given: [any SimpleModel], _ snapshot: ModelSnapshot
  ) {
    let types = bridge.consistency.liveTypes(of: identifier.text)
    for type in types where !given.contains(where: { Swift.type(of: $0) == type }) {
      do {
        guard let stored = try snapshot.live(identifier.text, as: type) as? any Model else {
          continue
        }
        let merged = given.reduce(stored) { older, newer in
          (newer as? any Model).map { older.merge($0) } ?? older
        }
        update.addStored(merged, identifier.text)
      } catch {
        failures.append(ReadFailure(error: error, key: identifier, type: type))
      }
    }
  }

  /// Reads the changed nodes of an operation, and the live nodes that it names without a change.
  ///
  /// Live trees may show such a node otherwise, although the store had the data before.
  private func add(
    _ given: LiveUpdate, _ isStored: Bool, besides inMemory: [ByteString: [any SimpleModel]?],
    _ snapshot: ModelSnapshot
  ) {
    // Nodes that are deleted in memory, and not set later, need no check.
    if isStored {
      for identifier in given.deleted where !changed.contains(identifier) {
        if inMemory[identifier] != nil { continue }
        if isBack(identifier, snapshot) {
          changed.insert(identifier)
        } else {
          update.deleted.insert(identifier)
        }
      }
    }
    for (identifier, versions) in given.versions where inMemory[identifier] == nil {
      if changed.contains(identifier) || group.hasExpired {
        for model in versions.given { read(identifier, as: type(of: model), snapshot) }
      } else if !update.deleted.contains(identifier) {
        for type in bridge.consistency.liveTypes(of: identifier.text) {
          read(identifier, as: type, snapshot)
        }
      }
    }
  }

  /// Reads a node in a type, once.
  private func read(
    _ identifier: ByteString, as type: any SimpleModel.Type, _ snapshot: ModelSnapshot,
    isRepeated: Bool = false
  ) {
    let isRead = update.versions[identifier]?.stored.contains { Swift.type(of: $0) == type }
    if isRead == true { return }
    if let model = given[identifier], Swift.type(of: model) == type {
      return update.addStored(model, identifier.text)
    }
    do {
      guard let model = try snapshot.live(identifier.text, as: type) else { return }
      update.addStored(model, identifier.text)
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
