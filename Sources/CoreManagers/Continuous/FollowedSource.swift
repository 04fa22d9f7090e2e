import DataProviders
import Locking

/// Where iterations over a followed query begin; those that run at the same time share one live query.
final class FollowedSource<E: Entity>: Sendable {
  private struct State: Sendable {
    weak var live: LiveQuery<E>?
  }

  let followed: FollowedQuery<E>
  private let hub: any EntityHub
  private let scope: ContinuousScope
  private let validator: (any UserAccessValidating)?
  private let first: FirstAnswer<E>
  private let state = Locked(State())

  init(
    _ followed: FollowedQuery<E>, hub: any EntityHub, scope: ContinuousScope,
    validator: (any UserAccessValidating)?, first: FirstAnswer<E>
  ) {
    self.followed = followed
    self.hub = hub
    self.scope = scope
    self.validator = validator
    self.first = first
  }

  /// Whose access an iteration that begins now has.
  var access: UserAccess? { validator?.userAccess }

  /// What an iteration shows of a window.
  ///
  /// - Parameters:
  ///   - window: What is there.
  ///   - access: Whose access the iteration began with.
  func result(of window: QueryWindow<E>, for access: UserAccess?) -> QueryResult<E> {
    if let validator {
      let present = validator.userAccess
      // Another user's view is not the one that was opened.
      guard present.level != .none, present.user == access?.user else { return .empty }
    }
    return QueryResult(window.shown, groupedBy: followed.query.groupedBy)
  }

  /// Joins those who follow the query, or begins to follow it.
  ///
  /// - Throws: `QueryError` for a query that makes no sense.
  func join() throws -> (live: LiveQuery<E>, cursor: ObserverCursor) {
    try followed.query.validate()
    while true {
      let (live, isNew) = state.withLock { state in
        if let live = state.live { return (live, false) }
        let live = LiveQuery(followed)
        state.live = live
        return (live, true)
      }
      let cursor = live.observed.makeCursor()
      if isNew {
        begin(live)
        return (live, cursor)
      }
      // One that failed before the cursor was made would never say so.
      guard live.hasFailed else { return (live, cursor) }
      let failed = state.withLock { state in
        defer { if state.live === live { state.live = nil } }
        return state.live
      }
      withExtendedLifetime(failed) {}
    }
  }

  private func begin(_ live: LiveQuery<E>) {
    scope.insert(live)
    live.whenEnded { [scope, number = live.number] in scope.remove(number) }
    switch first {
    case .local: hub.begin(live)
    case .asked(let ask):
      let task = Task { [hub, weak live] in
        do {
          let answer = try await ask()
          guard let live else { return }
          if let answer { live.show(answer) } else { hub.begin(live) }
        } catch {
          live?.fail(error)
        }
      }
      live.whenEnded { task.cancel() }
    case .then(let ask):
      hub.begin(live)
      let task = Task { [weak live] in
        do { _ = try await ask() } catch { live?.fail(error) }
      }
      live.whenEnded { task.cancel() }
    }
  }
}

/// What comes before a query is followed.
enum FirstAnswer<E: Entity>: Sendable {
  /// What is asked; returns what to show of an answer that is stored nowhere.
  typealias Ask = @Sendable () async throws -> QueryResult<E>?

  /// Nothing: what is here is shown at once.
  case local
  /// Something that is waited for; then what is here is shown.
  case asked(Ask)
  /// What is here is shown at once, and something is asked whose answer changes it.
  case then(Ask)
}
