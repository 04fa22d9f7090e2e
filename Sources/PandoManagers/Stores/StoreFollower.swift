import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Synchronization

/// Tells the caches over a model store which nodes have changed; one per store.
///
/// It collects the commits of this process, and passes them to the caches when one of them reads; at once if
/// the program sees the memory of one. It reads those of other processes from the change log then. It holds the
/// lock of ``state`` while it calls the caches, so they get commits in order.
final class StoreFollower: CommitFollower {
  private struct State {
    /// The last commit whose changes the caches have, or are collected for them.
    var received: UInt64
    /// The nodes that the last of these commits have changed, and that the caches may still have.
    var nodes: [ByteString] = []
    var caches = WeakList<any CommitCache>()
    /// Whether a cache has had a memory that the program sees.
    var isSeen = false
  }

  /// The most collected nodes, which take less than a megabyte.
  private static let nodeCountMaximum = 4_096

  private let state: Locked<State>
  /// The number of requests to servers since a commit.
  private let reads = Locked((commit: UInt64(0), count: UInt64(0)))
  private let namespaces = Locked<Set<ByteString>>([])
  /// The newest version of the store whose commits the caches have.
  private let version = Atomic<UInt64>(0)
  /// In a lock of its own, because caches read it under theirs.
  private let touches = Locked(RecentTouches())

  private init(_ store: ModelStore) throws {
    let number = try store.read { try $0.commitValue }
    state = Locked(State(received: number))
    store.feed.add(self)
  }

  private static let followers = Locked<
    [(store: WeakReference<ModelStore>, follower: StoreFollower)]
  >([])

  /// The follower of a store.
  static func follower(of store: ModelStore) throws -> StoreFollower {
    try followers.withLock { followers in
      followers.removeAll { $0.store.object == nil }
      if let known = followers.first(where: { $0.store.object === store }) { return known.follower }
      let follower = try StoreFollower(store)
      followers.append((WeakReference(store), follower))
      return follower
    }
  }

  /// Calls a cache for every later commit; holds it weakly.
  func add(_ cache: any CommitCache) {
    state.withLock { state in
      state.caches.append(cache)
      if cache.isSeen { state.isSeen = true }
    }
  }

  /// Whether the caches have all commits of all processes; compares one number.
  ///
  /// After `false`, ``catchUp(with:)`` finds out by a snapshot.
  func isInStep(with store: ModelStore) -> Bool {
    store.newestVersion == version.load(ordering: .acquiring)
  }

  /// Passes the commits that a snapshot shows to the caches.
  ///
  /// - Returns: The number of the last commit.
  @discardableResult
  func catchUp(with snapshot: ModelSnapshot) throws -> UInt64 {
    let number = try snapshot.commitValue
    if let received = passOn(upTo: number) {
      let changeSets: [ChangeSet]?
      do {
        changeSets = try snapshot.changes(since: CommitNumber(value: received))
      } catch let error as StoreError where error.code == .changesExpired {
        changeSets = nil
      }
      state.withLock { state in
        if state.received < number {
          guard let changeSets else { return dropAll(upTo: number, &state) }
          for changeSet in changeSets where changeSet.commitNumber.value > state.received {
            state.nodes += changeSet.nodes
          }
          state.received = number
        }
        passOn(&state)
      }
    }
    // Only after the caches have dropped what these commits changed.
    version.max(snapshot.version, ordering: .releasing)
    return number
  }

  /// Passes the commits up to a given number to the caches.
  func catchUp(to number: UInt64, of store: ModelStore) throws {
    if passOn(upTo: number) != nil { _ = try store.read { try catchUp(with: $0) } }
  }

  /// Whether a namespace is named for the first time.
  func isFirst(_ namespace: String) -> Bool {
    namespaces.withLock { $0.insert(ByteString(namespace)).inserted }
  }

  /// Takes the sequence number of a request to a server, after all earlier requests.
  func takeReadPlace(after commit: UInt64) -> UInt64 {
    reads.withLock { reads in
      if commit > reads.commit { reads = (commit, 0) }
      reads.count += 1
      return SequenceNumber.of(read: reads.count, after: reads.commit)
    }
  }

  /// Whether a node has changed after a commit.
  ///
  /// Caches call it under their own lock.
  func hasTouchedAny(after number: UInt64) -> Bool {
    touches.withLock { $0.containsAny(after: number) }
  }

  /// Whether one of these nodes has changed after a commit; `true` if the commit is too old to say.
  ///
  /// Caches call it under their own lock.
  func hasTouched(_ identifiers: [ByteString], after number: UInt64) -> Bool {
    touches.withLock { $0.contains(identifiers, after: number) }
  }

  /// The same for a node and those beneath it.
  func hasTouched(_ identifier: ByteString, _ others: [ByteString], after number: UInt64) -> Bool {
    touches.withLock { touches in
      guard touches.containsAny(after: number) else { return false }
      return touches.contains([identifier] + others, after: number)
    }
  }

  func receive(_ flush: [CommitEffects]) {
    state.withLock { state in
      // After a commit of another process, the next reader finds both in the change log.
      for write in flush where write.isCommit && write.commitValue == state.received + 1 {
        state.received = write.commitValue
        state.nodes += write.nodes
      }
      let isFull = state.nodes.count > Self.nodeCountMaximum
      if isFull || state.isSeen { passOn(&state, areNoted: !isFull) }
    }
  }

  func afterReceived(_ body: @escaping @Sendable () -> Void) { body() }

  /// Does nothing, because the next reader reads the change log.
  func othersMayHaveCommitted() {}

  func storeWasReplaced(by number: UInt64) { state.withLock { dropAll(upTo: number, &$0) } }
}

extension StoreFollower {
  /// Passes the collected commits to the caches.
  ///
  /// - Returns: The last of them, if the commit with a number is not among them.
  private func passOn(upTo number: UInt64) -> UInt64? {
    state.withLock { state in
      if !state.nodes.isEmpty { passOn(&state) }
      return state.received < number ? state.received : nil
    }
  }

  /// Passes the collected commits to the caches.
  ///
  /// - Parameters:
  ///   - state: The state.
  ///   - areNoted: Whether a read from before the commits may fill caches with other nodes.
  private func passOn(_ state: inout State, areNoted: Bool = true) {
    // First the touches, then the caches: a concurrent fill of a cache sees one of the two.
    touches.withLock { touches in
      if areNoted {
        touches.touch(state.nodes, by: state.received)
      } else {
        touches.forget(upTo: state.received)
      }
    }
    let nodes = Set(exchange(&state.nodes, with: []))
    for cache in state.caches.objects { cache.drop(nodes) }
  }

  private func dropAll(upTo number: UInt64, _ state: inout State) {
    touches.withLock { $0.forget(upTo: number) }
    for cache in state.caches.objects { cache.dropAll() }
    (state.received, state.nodes) = (number, [])
  }
}

/// A cache over a model store.
protocol CommitCache: AnyObject, Sendable {
  /// Drops the values that contain one of these nodes; must be quick and call no other object.
  func drop(_ identifiers: Set<ByteString>)

  /// Drops all values.
  func dropAll()

  /// Whether the program sees the memory itself.
  var isSeen: Bool { get }
}
