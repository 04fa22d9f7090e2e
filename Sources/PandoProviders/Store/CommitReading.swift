import PandoConsistency
import FoundationEssentials
import PandoSystem
import PandoModels
import PandoStore

/// Works out what live trees need of a commit, and reads it in the commit's own transaction.
///
/// Commits of other processes since the last known one are folded in: what is read is the state after
/// all of them.
struct CommitReading {
  let bridge: StoreBridge
  let own: (any ManagedOperation)?
  let changeSet: ChangeSet?
  /// The last commit that the live trees will show by then.
  let known: UInt64

  /// Reads; what can't be read is reported, and stays as it was in the live trees.
  func read(_ snapshot: ModelSnapshot) -> InFlightWrite {
    var prepared: [LiveNode] = []
    attempt(own?.subjects.first ?? "") { prepared = try own?.prepare(in: snapshot) ?? [] }
    var update = own?.makeUpdate() ?? LiveUpdate()
    update.operation = own
    let given = update.versions.keys.map { $0 }
    var number = changeSet?.commitNumber ?? known
    let fold = changes(snapshot, &number)
    if let changeSet = changeSet ?? fold.last {
      update.changeSet = changeSet
      if own == nil {
        update.context = changeSet.context
        update.date = changeSet.date
      }
    }
    let cacheKeys = fold.collections.map(\.key)
    let carried = bridge.writes.withLock { writes in
      writes.touch(given + fold.changed + fold.deleted + cacheKeys, by: number)
      return fold.changed.map { writes.carriedTypes(of: $0) }
    }
    for (identifier, types) in zip(fold.changed, carried) {
      read(identifier, types, snapshot, &update)
    }
    for identifier in Self.ambiguous(update) { readGiven(identifier, snapshot, &update) }
    update.deleted.formUnion(fold.deleted)
    for (key, changes) in fold.collections { read(key, changes, snapshot, &update) }
    if fold.hasExpired { readEverything(snapshot, &update) }
    return InFlightWrite(update, own, number: number, nodes: prepared + Self.nodes(of: update))
  }

  /// What an update may bring into live trees: commits behind it have to know of these nodes before
  /// they are registered.
  private static func nodes(of update: LiveUpdate) -> [LiveNode] {
    var nodes: [LiveNode] = []
    for (identifier, versions) in update.versions {
      for model in versions.given {
        nodes.append(LiveNode(identifier: identifier, type: type(of: model)))
      }
      for model in versions.stored { nodes += LiveNode.nodes(of: model) }
    }
    for topic in update.topics.values {
      if let topic = topic as? any TreeCarrier { nodes += topic.nodes }
    }
    return nodes
  }

  /// Identifiers that the operation gives in several versions: what the store makes of them counts.
  private static func ambiguous(_ update: LiveUpdate) -> [ByteString] {
    let several = update.versions.filter { $0.value.given.count > 1 }.map(\.key)
    return several + update.conflicts.map { ByteString($0) }
  }

  /// Runs something that reads, and reports what it throws.
  func attempt(_ subject: String, _ body: () throws -> Void) {
    do { try body() } catch { bridge.reporter.report(.failedRead(error, of: subject)) }
  }
}

extension CommitReading {
  /// What one or several commits did, all together.
  struct Fold {
    var changed: [ByteString] = []
    var deleted: [ByteString] = []
    var collections: [(key: ByteString, changes: [CollectionChange])] = []
    var last: ChangeSet?
    /// Whether the change log does not reach back to what is known.
    var hasExpired = false

    init(_ changeSets: [ChangeSet]) {
      last = changeSets.last
      if changeSets.count == 1, let only = last {
        changed = (only.updated + only.inserted).map { ByteString($0) }
        deleted = only.deleted.map { ByteString($0) }
        collections = only.collections.map { (ByteString($0.cacheKey), [$0.change]) }
        return
      }
      var isThere: [ByteString: Bool] = [:]
      var changes: [ByteString: [CollectionChange]] = [:]
      for set in changeSets {
        for identifier in set.updated + set.inserted { isThere[ByteString(identifier)] = true }
        for identifier in set.deleted { isThere[ByteString(identifier)] = false }
        for entry in set.collections {
          changes[ByteString(entry.cacheKey), default: []].append(entry.change)
        }
      }
      changed = isThere.filter(\.value).map(\.key)
      deleted = isThere.filter { !$0.value }.map(\.key)
      collections = changes.map { ($0.key, $0.value) }
    }
  }

  /// The change sets since the last known commit.
  private func changes(_ snapshot: ModelSnapshot, _ number: inout UInt64) -> Fold {
    let own = changeSet.map { [$0] } ?? []
    do {
      number = try snapshot.commitNumber
      guard number > known + UInt64(own.count) else { return Fold(own) }
      return Fold(try snapshot.changes(since: known))
    } catch let error as StoreError where error.code == .changesExpired {
      var fold = Fold(own)
      fold.hasExpired = true
      return fold
    } catch {
      bridge.reporter.report(.failedRead(error, of: "change log"))
      return Fold(own)
    }
  }

  /// Reads a changed node as each type that live trees show and the operation does not carry.
  private func read(
    _ identifier: ByteString, _ carried: [any SimpleModel.Type],
    _ snapshot: ModelSnapshot, _ update: inout LiveUpdate
  ) {
    var types = bridge.consistency.liveTypes(of: identifier.text)
    for type in carried where !types.contains(where: { $0 == type }) { types.append(type) }
    guard !types.isEmpty else { return }
    let given = update.versions[identifier]?.given ?? []
    for type in types where !given.contains(where: { Swift.type(of: $0) == type }) {
      read(identifier, as: type, snapshot, &update)
    }
  }

  /// Reads a node as all types that are given of it.
  private func readGiven(
    _ identifier: ByteString, _ snapshot: ModelSnapshot, _ update: inout LiveUpdate
  ) {
    guard changeSet != nil else { return }
    for model in update.versions[identifier]?.given ?? [] {
      read(identifier, as: type(of: model), snapshot, &update)
    }
  }

  private func read(
    _ identifier: ByteString, as type: any SimpleModel.Type, _ snapshot: ModelSnapshot,
    _ update: inout LiveUpdate
  ) {
    do {
      guard let model = try snapshot.live(identifier.text, as: type) else { return }
      update.addStored(model, identifier.text)
    } catch {
      bridge.failRead(error, of: identifier, as: type)
    }
  }

  private func read(
    _ cacheKey: ByteString, _ changes: [CollectionChange]?, _ snapshot: ModelSnapshot,
    _ update: inout LiveUpdate
  ) {
    guard let topic = bridge.topics.topic(cacheKey) else { return }
    // An operation that leaves its list as it is has no change of its own among those of others.
    let ownCount =
      changeSet?.collections.count { $0.cacheKey.hasSameBytes(as: cacheKey.text) } ?? 0
    do {
      update.topics[cacheKey] = try topic.prepare(
        changes, own, isAlone: changes?.count == ownCount, in: snapshot)
    } catch {
      bridge.failRead(error, of: cacheKey, as: nil)
    }
  }

  /// Reads all that is live: nobody knows any more what has changed.
  private func readEverything(_ snapshot: ModelSnapshot, _ update: inout LiveUpdate) {
    for (identifier, types) in bridge.consistency.liveNodes() {
      attempt(identifier.text) {
        guard try snapshot.contains(identifier.text) else {
          update.deleted.insert(identifier)
          return
        }
        for type in types { read(identifier, as: type, snapshot, &update) }
      }
    }
    for (key, _) in bridge.topics.all { read(key, nil, snapshot, &update) }
  }
}
