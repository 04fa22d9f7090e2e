import PandoSystem

/// An object that stays in step with a store.
package protocol CommitFollower: AnyObject, Sendable {
  /// Receives the effects of a flush, write by write in commit order. Writes without changes and
  /// refused writes are omitted unless they have a ticket. After ``CommitFeed/keepUnchanged()``,
  /// writes without changes come, too.
  ///
  /// The writing thread calls it after the commit of the flush, before its callers resume. It
  /// queues the effects and returns.
  func receive(_ flush: [CommitEffects])

  /// Calls a closure once everything received so far is shown.
  func afterReceived(_ body: @escaping @Sendable () -> Void)

  /// Called when other processes may have committed; it may be a false alarm.
  ///
  /// The watching thread calls it. It queues a read and returns.
  func othersMayHaveCommitted()

  /// Called when a copy replaced the contents of the store: no commit that was shown counts any more.
  ///
  /// The writing thread calls it after the commit. It queues a read of everything and returns.
  ///
  /// - Parameter number: The last commit of the copy.
  func storeWasReplaced(by number: UInt64)

  /// Called before the store closes, after the last commit. Returns at once.
  func storeCloses()
}

extension CommitFollower {
  package func storeWasReplaced(by number: UInt64) {}
  package func storeCloses() {}
}

/// Passes the commits of this process to the followers of a store.
///
/// A follower receives commits after the flush; a reader may see one earlier:
/// ``waitForHandOver(of:)``. The monitor guards ``State``; no follower is called while it is held.
package final class CommitFeed: Sendable {
  private struct State {
    var followers = WeakList<any CommitFollower>()
    /// The commits of a flush that is about to be committed or handed over.
    var announced: ClosedRange<UInt64>?
    /// The follower that ``shared(orMake:)`` returns to all callers.
    weak var shared: AnyObject?
    /// Whether writes without changes count.
    var keepsUnchanged = false
    /// Whether a thread watches for commits of other processes.
    var isWatched = false
    /// The number of readers of the growing change log.
    var readerCount = 0
    /// Grows whenever any process may have committed.
    var generation: UInt64 = 0
    /// The tasks that wait for that.
    var waiters = Waiters<Void>()
    /// Whether the store is closed.
    var isEnded = false

    func awaits(_ number: UInt64) -> Bool { announced.map { number >= $0.lowerBound } ?? false }
  }

  private let state = Monitor(State())
  /// Watches for commits of other processes.
  private let watcher: CommitWatcher
  /// Whether followers are notified of these.
  private let tellsFollowers: Bool

  init(_ watcher: CommitWatcher, tellsFollowers: Bool) {
    self.watcher = watcher
    self.tellsFollowers = tellsFollowers
  }

  /// Adds a follower for all flushes that begin from now on; it is not retained.
  package func add(_ follower: any CommitFollower) {
    let begins = state.withLock { state in
      state.followers.append(follower)
      return tellsFollowers && !exchange(&state.isWatched, with: true)
    }
    if begins { startWatching() }
  }

  /// If the thread can't start, the next follower tries again.
  private func startWatching() {
    if !watcher.start(self) { state.withLock { $0.isWatched = false } }
  }

  /// Notifies followers and readers that other processes may have committed.
  ///
  /// - Returns: Whether there are any; if not, watching ends.
  func othersMayHaveCommitted() -> Bool {
    let (followers, isWatched) = state.withLock { state in
      let followers = tellsFollowers ? state.followers.objects : []
      state.isWatched = !followers.isEmpty || state.readerCount > 0
      return (followers, state.isWatched)
    }
    for follower in followers { follower.othersMayHaveCommitted() }
    mayHaveCommitted()
    return isWatched
  }

  /// Makes all followers look for commits that the feed does not pass on.
  package func lookForCommits() {
    let followers = state.withLock { $0.followers.objects }
    for follower in followers { follower.othersMayHaveCommitted() }
    mayHaveCommitted()
  }

  /// Has all followers read everything again, because a copy replaced the contents of the store.
  ///
  /// - Parameter number: The last commit of the copy.
  package func noteReplacement(by number: UInt64) {
    let followers = state.withLock { $0.followers.objects }
    for follower in followers { follower.storeWasReplaced(by: number) }
    mayHaveCommitted()
  }

  /// The follower that the whole process shares; created if there is none.
  ///
  /// - Parameter make: Makes one; of two made at the same time, one is released.
  /// - Returns: The follower; it lives as long as a caller retains it.
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

  /// From now on, also passes on writes that name nodes without changing them: a follower shows
  /// unstored values.
  package func keepUnchanged() { state.withLock { $0.keepsUnchanged = true } }

  /// Whether writes without changes count.
  var keepsUnchanged: Bool { state.withLock { $0.keepsUnchanged } }

  /// Whether the feed has followers.
  var hasFollowers: Bool { state.withLock { !$0.followers.isEmpty } }

  /// Announces commits that are about to become visible.
  func announce(_ commits: ClosedRange<UInt64>) { state.withLock { $0.announced = commits } }

  /// Withdraws the announced commits, which have failed.
  func withdraw() { end() }

  /// Passes committed effects to the followers.
  func handOver(_ flush: [CommitEffects]) {
    let followers = state.withLock { state in
      let followers = state.followers.objects
      if followers.count < state.followers.count { state.followers.removeEnded() }
      return followers
    }
    if !flush.isEmpty { for follower in followers { follower.receive(flush) } }
    end()
    mayHaveCommitted()
  }

  /// Calls a closure when all followers show what they have received.
  func afterShown(_ body: @escaping @Sendable () -> Void) {
    var next = body
    for follower in state.withLock({ $0.followers.objects }) {
      let last = next
      next = { follower.afterReceived(last) }
    }
    next()
  }

  private func end() {
    let isAwaited = state.withLock { exchange(&$0.announced, with: nil) != nil }
    if isAwaited { state.notifyAll() }
  }

  /// Returns when the followers have received all commits of this process up to a given one, or
  /// when those have failed.
  ///
  /// The writer never waits for the caller.
  ///
  /// - Parameter number: A commit of any process that a reader has seen.
  package func waitForHandOver(of number: UInt64) {
    state.waiting { $0.awaits(number) ? nil : () }
  }

  /// Whether followers may still have to receive a commit that a reader has seen.
  package func isAwaited(_ number: UInt64) -> Bool { state.withLock { $0.awaits(number) } }
}

extension CommitFeed {
  /// Counts a reader of the growing change log, and starts watching for other processes' commits.
  func beginReading() {
    let begins = state.withLock { state in
      state.readerCount += 1
      return !exchange(&state.isWatched, with: true)
    }
    if begins { startWatching() }
  }

  func endReading() { state.withLock { $0.readerCount -= 1 } }

  /// Grows whenever there may be a new commit; read it before reading the store.
  var generation: UInt64 { state.withLock { $0.generation } }

  /// Whether the store is closed.
  var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Returns when a commit may follow a generation, the store is closed, or the task is cancelled.
  func waitForCommit(after generation: UInt64) async {
    try? await state.wait(in: \.waiters) { state, _ in
      state.generation != generation || state.isEnded ? .success(()) : nil
    }
  }

  /// Resumes all tasks that wait for a commit.
  private func mayHaveCommitted() {
    let waiters = state.withLock { state in
      state.generation += 1
      return state.waiters.takeAll()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Ends all waits, and notifies the followers that the store is closed.
  func endReaders() {
    let followers = state.withLock { state in
      state.isEnded = true
      return state.followers.objects
    }
    mayHaveCommitted()
    for follower in followers { follower.storeCloses() }
  }
}
