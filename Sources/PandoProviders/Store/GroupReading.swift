import PandoConsistency
import PandoModels
import PandoStore

/// A node or list that can't be read as live trees show it.
struct ReadFailure: Sendable {
  let error: any Error
  /// An identifier or a cache key.
  let key: ByteString
  /// `nil` for a list.
  let type: (any SimpleModel.Type)?
  /// If it can't be decoded, the nodes that it is and holds.
  var nodes: Set<ByteString> = []
  /// Whether that is known already.
  var isRepeated = false
}

/// Reads what live trees need of several commits.
final class GroupReading {
  private let bridge: StoreBridge
  private let group: CommitGroup
  /// Operations of this manager that are among the commits, in order.
  private var own: [any ManagedOperation] = []
  private(set) var update = LiveUpdate()
  /// What could not be read.
  private(set) var failures: [ReadFailure] = []
  /// The nodes that have changed, and are to be read.
  private var changed: Set<ByteString>
  /// The nodes that the commits have touched, as they say.
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

  /// Reads; what can't be read is reported, and stays as it was in the live trees.
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

  /// Reads what could not be decoded, and may be now.
  private func readUndecodable(_ snapshot: ModelSnapshot) {
    for identifier in bridge.unread.take(touched)
    where !changed.contains(identifier) && !update.deleted.contains(identifier) {
      for type in bridge.consistency.liveTypes(of: identifier.text) {
        read(identifier, as: type, snapshot, isRepeated: true)
      }
    }
  }

  /// The lists that show what can't be decoded any more, or leave out what has changed.
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

  /// Adds what was set in memory of nodes that no commit has changed, where what was read holds them as
  /// they are stored.
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

  /// Adds what this manager's operations give: a change in memory counts for what no later commit of
  /// this process has touched, a stored one for what the store held already.
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
        // What it names counts as it is stored, though others may have set it in memory before.
        for (identifier, _) in given.versions { inMemory.removeValue(forKey: identifier) }
        for identifier in given.deleted { inMemory.removeValue(forKey: identifier) }
        continue
      }
      for identifier in given.deleted { update.departed[identifier, default: []].append(place) }
      for (identifier, versions) in given.versions { inMemory[identifier] = versions.given }
      for identifier in given.deleted { inMemory[identifier] = .some(nil) }
    }
    // Of what other processes have deleted the place is not known.
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

  /// Adds nodes that writes name, though the store had them so or lacked them: live trees may differ.
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

  /// Whether a node that a write was to delete is stored, though none of the commits has brought it: the
  /// store lacked it then, and a commit of another process that is shown already has brought it since.
  private func isBack(_ identifier: ByteString, _ snapshot: ModelSnapshot) -> Bool {
    if !group.hasExpired, touched.contains(identifier) { return false }
    do {
      return try snapshot.contains(identifier.text)
    } catch {
      failures.append(ReadFailure(error: error, key: identifier, type: nil))
      return false
    }
  }

  /// Adds what a node is as the types of which a change in memory gave nothing: as it is stored, with
  /// the change merged in.
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

  /// Reads what an operation gives that others have changed, and what is live of the rest: others may
  /// show it otherwise though the store had it already.
  private func add(
    _ given: LiveUpdate, _ isStored: Bool, besides inMemory: [ByteString: [any SimpleModel]?],
    _ snapshot: ModelSnapshot
  ) {
    // What is deleted in memory, and not set later, is known.
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

  /// Reads a node as a type, once.
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

  /// Reads all that is live: nobody knows any more what has changed.
  private func readEverything(_ snapshot: ModelSnapshot) {
    for (identifier, types) in bridge.consistency.liveNodes() {
      do {
        guard try snapshot.contains(identifier.text) else {
          update.deleted.insert(identifier)
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
