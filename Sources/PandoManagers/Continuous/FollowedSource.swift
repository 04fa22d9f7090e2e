import PandoProviders
import PandoSystem

/// Where iterations over a followed query begin; those that run at the same time share one live query.
final class FollowedSource<E: Entity>: FollowedOrigin {
  /// Begins to follow a query; returns at once.
  typealias Begin = @Sendable (LiveQuery<E>) -> Void

  let followed: FollowedQuery<E>
  private let begin: Result<Begin, any Error>
  private let scope: ContinuousScope
  private let validator: (any UserAccessValidating)?
  private let first: FirstAnswer<E>
  private let shared = SharedLive<LiveQuery<E>>()

  init(
    _ followed: FollowedQuery<E>, begin: Result<Begin, any Error>, scope: ContinuousScope,
    validator: (any UserAccessValidating)?, first: FirstAnswer<E>
  ) {
    self.followed = followed
    self.begin = begin
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
  /// - Returns: The result; empty if the user may not see it.
  func result(of window: QueryWindow<E>, for access: UserAccess?) -> QueryResult<E> {
    guard validator.allows(access) else { return .empty }
    return QueryResult(window.shown, groupedBy: followed.query.groupedBy)
  }

  func join() throws -> Following<QueryWindow<E>> {
    try followed.query.validate()
    while true {
      let (live, isNew) = shared.live { LiveQuery(followed) }
      let cursor = live.observed.makeCursor()
      if isNew {
        begin(live)
      } else if live.state.hasFailed {
        // One that failed before the cursor was made would never say so.
        shared.forget(live)
        continue
      }
      return Following(live: live, observed: live.observed, cursor: cursor)
    }
  }

  private func begin(_ live: LiveQuery<E>) {
    scope.insert(live)
    live.endings.add { [scope, number = live.number] in scope.remove(number) }
    let follow: Begin
    switch begin {
    case .success(let begin): follow = begin
    case .failure(let error): return live.state.fail(error)
    }
    switch first {
    case .local: follow(live)
    case .asked(let ask):
      let task = Task { [weak live] in
        do {
          let answer = try await ask()
          guard let live else { return }
          if let answer { live.show(answer) } else { follow(live) }
        } catch {
          live?.state.fail(error)
        }
      }
      live.endings.add { task.cancel() }
    case .then(let ask):
      follow(live)
      let task = Task { [weak live] in
        do { _ = try await ask() } catch { live?.state.fail(error) }
      }
      live.endings.add { task.cancel() }
    }
  }
}

extension Optional where Wrapped == any UserAccessValidating {
  /// Whether an iteration may go on to show what is here.
  ///
  /// - Parameter access: Whose access it began with: another user's view is not the one that was opened.
  /// - Returns: Whether it may.
  func allows(_ access: UserAccess?) -> Bool {
    guard let validator = self else { return true }
    let present = validator.userAccess
    return present.level != .none && present.user == access?.user
  }
}
