import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Synchronization

/// Tells the caches over a model store which nodes have changed; one per store.
///
/// It receives the commits of this process at once. It reads those of other processes from the change log
/// when a cache reads. It holds the lock of ``state`` while it calls the caches, so they get commits in
/// order.
final class StoreFollower: CommitFollower {
  private struct State {
    /// The last commit whose changes the caches have.
    var processed: UInt64
    var caches = WeakList<any CommitCache>()
  }

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
    state = Locked(State(processed: number))
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
    state.withLock { $0.caches.append(cache) }
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
    if let processed = state.withLock({ $0.processed < number ? $0.processed : nil }) {
      let changeSets: [ChangeSet]?
      do {
        changeSets = try snapshot.changes(since: CommitNumber(value: processed))
      } catch let error as StoreError where error.code == .changesExpired {
        changeSets = nil
      }
      state.withLock { state in
        guard state.processed < number else { return }
        if let changeSets {
          let commits = changeSets.map { changeSet -> Commit in
            let keys = changeSet.updated + changeSet.inserted + changeSet.deleted
            return (changeSet.commitNumber.value, keys.map { ByteString($0) })
          }
          process(commits.filter { $0.number > state.processed }, &state)
        } else {
          processAll(upTo: number, &state)
        }
      }
    }
    // Only after the caches have dropped what these commits changed.
    version.max(snapshot.version, ordering: .releasing)
    return number
  }

  /// Passes the commits up to a given number to the caches.
  func catchUp(to number: UInt64, of store: ModelStore) throws {
    guard state.withLock({ $0.processed < number }) else { return }
    _ = try store.read { try catchUp(with: $0) }
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
      var commits: [Commit] = []
      for write in flush
      where write.isCommit && write.commitValue == (commits.last?.number ?? state.processed) + 1 {
        commits.append((write.commitValue, write.changed + write.deleted))
      }
      process(commits, &state)
    }
  }

  func afterReceived(_ body: @escaping @Sendable () -> Void) { body() }

  /// Does nothing, because the next reader reads the change log.
  func othersMayHaveCommitted() {}

  func storeWasReplaced(by number: UInt64) { state.withLock { processAll(upTo: number, &$0) } }
}

extension StoreFollower {
  /// A commit and the nodes that it has changed.
  private typealias Commit = (number: UInt64, keys: [ByteString])

  /// Passes the next commits to the caches.
  private func process(_ commits: [Commit], _ state: inout State) {
    guard let last = commits.last else { return }
    // First the touches, then the caches: a concurrent fill of a cache sees one of the two.
    touches.withLock { touches in
      for commit in commits { touches.touch(commit.keys, by: commit.number) }
    }
    let keys = commits.flatMap { $0.keys }
    for cache in state.caches.objects { cache.drop(keys) }
    state.processed = last.number
  }

  private func processAll(upTo number: UInt64, _ state: inout State) {
    touches.withLock { $0.forget(upTo: number) }
    for cache in state.caches.objects { cache.dropAll() }
    state.processed = number
  }
}

/// A cache over a model store.
protocol CommitCache: AnyObject, Sendable {
  /// Drops the values that contain one of these nodes; must be quick and call no other object.
  func drop(_ identifiers: [ByteString])

  /// Drops all values.
  func dropAll()
}
