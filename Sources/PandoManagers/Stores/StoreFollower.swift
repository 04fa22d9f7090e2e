import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Synchronization

/// Knows which nodes of a model store have changed, for the caches over it.
///
/// It hears of the commits of this process at once, and finds those of other processes in the change
/// log when a cache asks. There is one for each model store, whoever opened managers over it.
final class StoreFollower: CommitFollower {
  private struct State {
    /// The last commit whose changes the caches know.
    var processed: UInt64
    var caches = WeakList<any CommitCache>()
  }

  /// Held while the caches are told, so that they hear of commits in their order.
  private let state: Locked<State>
  /// How many reads of servers have begun since the commit that they know.
  private let reads = Locked((commit: UInt64(0), count: UInt64(0)))
  private let namespaces = Locked<Set<ByteString>>([])
  /// The newest version of the store of which the caches know all commits.
  private let version = Atomic<UInt64>(0)
  /// A lock of its own: caches ask under theirs.
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

  /// Has a cache told of every commit from now on; it is not retained.
  func add(_ cache: any CommitCache) {
    state.withLock { $0.caches.append(cache) }
  }

  /// Whether the caches know of all that is committed, by whatever process: one look at a number.
  ///
  /// `false` where a snapshot has to tell: ``catchUp(with:)``.
  func isInStep(with store: ModelStore) -> Bool {
    store.newestVersion == version.load(ordering: .acquiring)
  }

  /// Lets the caches know of all commits that a snapshot shows.
  ///
  /// - Returns: The number of the last one.
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
          for changeSet in changeSets { process(changeSet, &state) }
        } else {
          processAll(upTo: number, &state)
        }
      }
    }
    // Not before the caches have let go of what these commits have touched.
    version.max(snapshot.version, ordering: .releasing)
    return number
  }

  /// Lets the caches know of all commits up to one that somebody has seen.
  func catchUp(to number: UInt64, of store: ModelStore) throws {
    guard state.withLock({ $0.processed < number }) else { return }
    _ = try store.read { try catchUp(with: $0) }
  }

  /// Whether a namespace is named for the first time.
  func isFirst(_ namespace: String) -> Bool {
    namespaces.withLock { $0.insert(ByteString(namespace)).inserted }
  }

  /// Gives a read of a server its place, after all that began before.
  func takeReadPlace(after commit: UInt64) -> UInt64 {
    reads.withLock { reads in
      if commit > reads.commit { reads = (commit, 0) }
      reads.count += 1
      return SequenceNumber.of(read: reads.count, after: reads.commit)
    }
  }

  /// Whether anything has changed after a commit, as far as is known.
  ///
  /// Called by caches under their own lock.
  func hasTouchedAny(after number: UInt64) -> Bool {
    touches.withLock { $0.containsAny(after: number) }
  }

  /// Whether one of some nodes has changed after a commit, as far as is known; `true` if that is too
  /// long ago to know.
  ///
  /// Called by caches under their own lock.
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
      for write in flush {
        // Where another process has committed between, the next reader finds both in the change log.
        guard let changeSet = write.changeSet, changeSet.commitNumber.value == state.processed + 1
        else {
          continue
        }
        process(changeSet, &state)
      }
    }
  }

  func afterReceived(_ body: @escaping @Sendable () -> Void) { body() }

  /// The next reader finds out.
  func othersMayHaveCommitted() {}

  func storeWasReplaced(by number: UInt64) { state.withLock { processAll(upTo: number, &$0) } }
}

extension StoreFollower {
  private func process(_ changeSet: ChangeSet, _ state: inout State) {
    guard changeSet.commitNumber.value > state.processed else { return }
    let (updated, inserted, deleted) = (changeSet.updated, changeSet.inserted, changeSet.deleted)
    var keys: [ByteString] = []
    keys.reserveCapacity(updated.count + inserted.count + deleted.count)
    for key in updated { keys.append(ByteString(key)) }
    for key in inserted { keys.append(ByteString(key)) }
    for key in deleted { keys.append(ByteString(key)) }
    // First what is remembered, then the caches: a cache that is being filled meanwhile sees either.
    touches.withLock { $0.touch(keys, by: changeSet.commitNumber.value) }
    for cache in state.caches.objects { cache.drop(keys) }
    state.processed = changeSet.commitNumber.value
  }

  private func processAll(upTo number: UInt64, _ state: inout State) {
    touches.withLock { $0.forget(upTo: number) }
    for cache in state.caches.objects { cache.dropAll() }
    state.processed = number
  }
}

/// A cache over a model store.
protocol CommitCache: AnyObject, Sendable {
  /// Lets go of everything that shows one of some nodes; quick, and calls nobody.
  func drop(_ identifiers: [ByteString])

  /// Lets go of everything.
  func dropAll()
}
