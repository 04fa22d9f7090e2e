import DataProviders
import Locking
import ModelCore

/// One query that somebody follows: its present result, and the one that the commit under way leaves.
///
/// Iterations share it and keep it alive; the hub does not. When the last one ends, it is forgotten.
///
/// ```
/// loading ─► follow(window, at: k) ─► following ─► stage (in the transaction) ─► commit
///    ▲  └──── a commit after k has touched it: read again, in the order of writes       │
///    └──────────────────────────────────────────────────── rollBack (the flush failed) ─┘
/// ```
final class LiveQuery<E: Entity>: Followed {
  private enum Phase {
    /// Its entities are being read; the last commit so far that may have touched them.
    case loading(missed: UInt64)
    case following
    case failed
  }

  private struct State {
    var phase = Phase.loading(missed: 0)
    var staged: QueryWindow<E>?
    /// The last change that `staged` shows.
    var stagedAt: UInt64 = 0
    var committed: QueryWindow<E>?
  }

  /// What it was made for.
  let followed: FollowedQuery<E>
  /// What observers pull from; `nil` until it has been read.
  let observed = ObservedState<QueryWindow<E>?>(nil)
  /// Tells it from all others.
  let number = FollowedNumber.next()
  private let state = Locked(State())
  private let endings = Locked<[@Sendable () -> Void]>([])

  /// Makes a query that is not followed yet.
  init(_ followed: FollowedQuery<E>) { self.followed = followed }

  deinit {
    for ending in endings.withLock({ $0 }) { ending() }
  }

  /// Says what to do when nobody follows it any more.
  ///
  /// - Parameter body: Must not keep the query alive.
  func whenEnded(_ body: @escaping @Sendable () -> Void) { endings.withLock { $0.append(body) } }

  func finish() { observed.finish() }

  /// Whether it can be followed no longer.
  var hasFailed: Bool {
    state.withLock { state in
      if case .failed = state.phase { return true }
      return false
    }
  }

  /// Ends it by an error: all who follow it are told after the last value.
  func fail(_ error: any Error) {
    state.withLock { $0.phase = .failed }
    observed.fail(error)
  }
}

extension LiveQuery {
  /// Shows what was read at a commit, if nothing has touched it since.
  ///
  /// - Parameters:
  ///   - window: What was read.
  ///   - number: The commit that it was read at.
  /// - Returns: Whether it is shown; else it has to be read again.
  func follow(_ window: QueryWindow<E>, at number: UInt64) -> Bool {
    let isShown = state.withLock { state in
      guard case .loading(let missed) = state.phase, missed <= number else { return false }
      state = State(
        phase: .following, staged: window, stagedAt: number, committed: window)
      return true
    }
    if isShown { observed.publish(window) }
    return isShown
  }

  /// Shows an answer that nothing changes later.
  func show(_ answer: QueryResult<E>) {
    var query = followed.query
    query.offset = 0
    query.limit = nil
    let entities = answer.entities.enumerated().map { index, entity in
      RankedEntity(entity, rank: UInt64(index))
    }
    observed.publish(QueryWindow(FollowedQuery(query), filledWith: entities))
  }

  /// Takes what was read inside a transaction; it is shown with ``commit(_:context:)``.
  func stage(loaded window: QueryWindow<E>, at number: UInt64) {
    state.withLock { state in
      if case .failed = state.phase { return }
      state.phase = .following
      state.staged = window
      state.stagedAt = number
    }
  }

  /// Works out what the commit under way leaves.
  ///
  /// On the thread that changes entities.
  ///
  /// - Parameters:
  ///   - changes: What it has touched; `nil` if that is not known.
  ///   - number: The number of the commit.
  ///   - fill: Reads all that ``FollowedQuery/stored`` finds, and says at which commit: this one or a
  ///     later one, whose changes then are known already.
  /// - Returns: What to show with ``commit(_:context:)``; `nil` if it is what is shown already.
  /// - Throws: What `fill` throws.
  func stage(
    _ changes: [EntityChange<E>]?, at number: UInt64,
    fill: () throws -> (entities: [RankedEntity<E>], number: UInt64)
  ) throws -> QueryWindow<E>? {
    let staged = state.withLock { state in
      if case .loading(let missed) = state.phase {
        state.phase = .loading(missed: max(missed, number))
      }
      return changes == nil || number > state.stagedAt ? state.staged : nil
    }
    guard var window = staged else { return nil }
    let outcome = changes.map { window.apply($0) } ?? .exhausted
    if outcome == .same { return nil }
    var shownAt = number
    if outcome == .exhausted {
      let filling = try fill()
      window = QueryWindow(followed, filledWith: filling.entities)
      shownAt = filling.number
    }
    state.withLock { state in
      state.staged = window
      state.stagedAt = shownAt
    }
    return window
  }

  /// Shows what a commit has left.
  ///
  /// - Parameters:
  ///   - window: What ``stage(_:at:fill:)`` returned.
  ///   - context: What the writer passed along.
  func commit(_ window: QueryWindow<E>, context: (any Sendable)?) {
    let isShown = state.withLock { state in
      guard case .following = state.phase else { return false }
      state.committed = window
      return true
    }
    if isShown { observed.publish(window, context: context) }
  }

  /// Forgets what was staged and is not committed.
  func rollBack() {
    state.withLock { state in
      guard case .following = state.phase else { return }
      state.staged = state.committed
      state.stagedAt = 0
      if state.committed == nil { state.phase = .loading(missed: 0) }
    }
  }
}
