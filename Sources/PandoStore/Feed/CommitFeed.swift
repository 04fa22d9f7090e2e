import PandoSystem

/// Whoever keeps something in step with a store.
package protocol CommitFollower: AnyObject, Sendable {
  /// Takes what a flush has done, write by write in commit order; writes that changed nothing, or were
  /// refused, and carry no ticket are left out. Those that changed nothing come too after
  /// ``CommitFeed/keepUnchanged()``.
  ///
  /// On the thread that has written, when the flush is committed and before its callers resume. Takes it into a
  /// queue and returns.
  func receive(_ flush: [CommitEffects])

  /// Calls a closure when what was received so far is shown.
  func afterReceived(_ body: @escaping @Sendable () -> Void)

  /// Says that other processes may have committed something; comes too when they have not.
  ///
  /// On the thread that watches for it. Queues a look and returns.
  func othersMayHaveCommitted()

  /// Says that there will be no more commits: the store is about to be closed. Returns at once.
  func storeCloses()
}

extension CommitFollower {
  package func storeCloses() {}
}

/// Brings what is committed in this process to those who follow the store.
///
/// A follower hears of its commits after the flush. A reader may see a commit before its flush is
/// over, or before the followers have it: ``waitForHandOver(of:)``.
package final class CommitFeed: Sendable {
  private struct WeakFollower {
    weak let follower: (any CommitFollower)?
  }

  private struct State {
    var followers: [WeakFollower] = []
    /// The commits of the flush that is about to be committed, or is and has not been handed over.
    var announced: ClosedRange<UInt64>?
    /// The one follower that ``shared(orMake:)`` gives everybody.
    weak var shared: AnyObject?
    /// Whether writes that have changed nothing count.
    var keepsUnchanged = false
    /// Whether a thread watches for what other processes commit.
    var isWatched = false
    /// How many read the change log as it grows.
    var readerCount = 0
    /// Grows whenever there may be a new commit, of whatever process.
    var generation: UInt64 = 0
    /// Who waits for that.
    var waiters: [(number: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
    var nextWaiter: UInt64 = 0
    /// Whether the store is closed.
    var isEnded = false

    func awaits(_ number: UInt64) -> Bool { announced.map { number >= $0.lowerBound } ?? false }
  }

  private let state = Monitor(State())
  /// Looks for what other processes commit.
  private let watcher: CommitWatcher
  /// Whether followers are told of that.
  private let tellsFollowers: Bool

  init(_ watcher: CommitWatcher, tellsFollowers: Bool) {
    self.watcher = watcher
    self.tellsFollowers = tellsFollowers
  }

  /// Brings a follower every flush that begins from now on; it is not retained.
  package func add(_ follower: any CommitFollower) {
    let begins = state.withLock { state in
      state.followers.removeAll { $0.follower == nil }
      state.followers.append(WeakFollower(follower: follower))
      return tellsFollowers && !exchange(&state.isWatched, with: true)
    }
    if begins { startWatching() }
  }

  /// Without room for a thread the next one who follows tries again.
  private func startWatching() {
    if !watcher.start(self) { state.withLock { $0.isWatched = false } }
  }

  /// Tells all who want to know that other processes may have committed something.
  ///
  /// - Returns: Whether there is anybody; with nobody, watching ends.
  func othersMayHaveCommitted() -> Bool {
    let (followers, isWatched) = state.withLock { state in
      let followers = tellsFollowers ? state.followers.compactMap(\.follower) : []
      state.isWatched = !followers.isEmpty || state.readerCount > 0
      return (followers, state.isWatched)
    }
    for follower in followers { follower.othersMayHaveCommitted() }
    mayHaveCommitted()
    return isWatched
  }

  /// Has all who follow look for commits that nobody brings them.
  package func lookForCommits() {
    let followers = state.withLock { $0.followers.compactMap(\.follower) }
    for follower in followers { follower.othersMayHaveCommitted() }
    mayHaveCommitted()
  }

  /// The follower that all of this process share, made now if there is none.
  ///
  /// - Parameter make: Makes one; of two that are made at once, one is let go.
  /// - Returns: A follower that lives as long as somebody holds it.
  package func shared<Follower: AnyObject>(orMake make: () throws -> Follower) rethrows -> Follower
  {
    if let known = state.withLock({ $0.shared as? Follower }) { return known }
    let new = try make()
    return state.withLock { state in
      if let known = state.shared as? Follower { return known }
      state.shared = new
      return new
    }
  }

  /// Brings from now on also the writes that name nodes and change nothing: somebody shows what is not
  /// stored.
  package func keepUnchanged() { state.withLock { $0.keepsUnchanged = true } }

  /// Whether writes that have changed nothing count.
  var keepsUnchanged: Bool { state.withLock { $0.keepsUnchanged } }

  /// Whether anybody follows.
  var hasFollowers: Bool { state.withLock { !$0.followers.isEmpty } }

  /// Notes that commits are about to become visible.
  func announce(_ commits: ClosedRange<UInt64>) { state.withLock { $0.announced = commits } }

  /// Notes that what was announced has failed.
  func withdraw() { end() }

  /// Hands over what has been committed.
  func handOver(_ flush: [CommitEffects]) {
    let followers = state.withLock { state in
      let followers = state.followers.compactMap(\.follower)
      if followers.count < state.followers.count {
        state.followers.removeAll { $0.follower == nil }
      }
      return followers
    }
    if !flush.isEmpty { for follower in followers { follower.receive(flush) } }
    end()
    mayHaveCommitted()
  }

  /// Calls a closure when everybody shows what has been handed over.
  func afterShown(_ body: @escaping @Sendable () -> Void) {
    var next = body
    for follower in state.withLock({ $0.followers.compactMap(\.follower) }) {
      let last = next
      next = { follower.afterReceived(last) }
    }
    next()
  }

  private func end() {
    let isAwaited = state.withLock { exchange(&$0.announced, with: nil) != nil }
    if isAwaited { state.notifyAll() }
  }

  /// Returns when the followers have received all commits of this process up to one that a reader has
  /// seen, or when those have failed.
  ///
  /// The writer never waits for whoever waits here.
  ///
  /// - Parameter number: A commit, of whatever process.
  package func waitForHandOver(of number: UInt64) {
    state.waiting { $0.awaits(number) ? nil : () }
  }

  /// Whether a commit that a reader has seen may be one that followers are about to receive.
  package func isAwaited(_ number: UInt64) -> Bool { state.withLock { $0.awaits(number) } }
}

extension CommitFeed {
  /// Notes that somebody reads the change log as it grows, and has others' commits looked for.
  func beginReading() {
    let begins = state.withLock { state in
      state.readerCount += 1
      return !exchange(&state.isWatched, with: true)
    }
    if begins { startWatching() }
  }

  func endReading() { state.withLock { $0.readerCount -= 1 } }

  /// Grows whenever there may be a new commit; read before the store is looked at.
  var generation: UInt64 { state.withLock { $0.generation } }

  /// Whether the store is closed.
  var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Returns when there may be a commit after a generation, the store is closed, or the task cancelled.
  func waitForCommit(after generation: UInt64) async {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.generation != generation || state.isEnded || Task.isCancelled { return true }
          state.waiters.append((number, continuation))
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
      }
      waiter?.continuation.resume()
    }
  }

  /// Has all go on who wait for a commit.
  private func mayHaveCommitted() {
    let waiters = state.withLock { state in
      state.generation += 1
      return exchange(&state.waiters, with: [])
    }
    for waiter in waiters { waiter.continuation.resume() }
  }

  /// Has all who wait and all followers find that the store is closed.
  func endReaders() {
    let followers = state.withLock { state in
      state.isEnded = true
      return state.followers.compactMap(\.follower)
    }
    mayHaveCommitted()
    for follower in followers { follower.storeCloses() }
  }
}
