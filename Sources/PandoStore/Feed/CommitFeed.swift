import PandoSystem

/// Whoever keeps something in step with a store.
package protocol CommitFollower: AnyObject, Sendable {
  /// Takes what a flush has done, write by write in commit order; writes that changed nothing, or were
  /// refused, and carry no ticket are left out. Those that changed nothing come too after
  /// ``CommitFeed/keepUnchanged()``.
  ///
  /// On the writer thread, when the flush is committed and before its callers resume. Takes it into a
  /// queue and returns.
  func receive(_ flush: [CommitEffects])

  /// Calls a closure when what was received so far is shown.
  func afterReceived(_ body: @escaping @Sendable () -> Void)

  /// Says that other processes may have committed something; comes too when they have not.
  ///
  /// On the thread that watches for it. Queues a look and returns.
  func othersMayHaveCommitted()
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

    func awaits(_ number: UInt64) -> Bool { announced.map { number >= $0.lowerBound } ?? false }
  }

  private let state = Monitor(State())
  /// Looks for what other processes commit; `nil` where nobody is to be told of that.
  private let watcher: CommitWatcher?

  init(_ watcher: CommitWatcher?) { self.watcher = watcher }

  /// Brings a follower every flush that begins from now on; it is not retained.
  package func add(_ follower: any CommitFollower) {
    let begins = state.withLock { state in
      state.followers.removeAll { $0.follower == nil }
      state.followers.append(WeakFollower(follower: follower))
      return !exchange(&state.isWatched, with: true)
    }
    if begins { watcher?.start(self) }
  }

  /// Those who follow and live; with none of them, watching ends.
  func watchingFollowers() -> [any CommitFollower] {
    state.withLock { state in
      let followers = state.followers.compactMap(\.follower)
      state.isWatched = !followers.isEmpty
      return followers
    }
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
