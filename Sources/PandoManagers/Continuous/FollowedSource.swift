import PandoProviders
import PandoSystem

/// Where iterations over a followed query or graph begin; those that run at the same time share one.
final class FollowedSource<Live: LiveResult>: Sendable {
  /// What brings changes to those that are followed.
  struct Line: Sendable {
    /// Begins to follow something; returns at once.
    let begin: @Sendable (Live) -> Void
    /// Waits until what is committed now is shown.
    let shown: @Sendable () async -> Void
  }

  private let make: @Sendable () throws -> Live
  private let line: Result<Line, any Error>
  private let scope: ContinuousScope?
  private let validator: (any UserAccessValidating)?
  private let prepare: (@Sendable () async throws -> Void)?
  private let first: FirstAnswer<Live.E>
  private let shared = SharedLive<Live>()

  /// Makes one that nobody follows yet.
  ///
  /// - Parameters:
  ///   - line: What brings changes, or why it can't be followed at all.
  ///   - scope: Ends all iterations; `nil` if only the store does.
  ///   - validator: Says whether the user may see it.
  ///   - prepare: What has to be done before anything is shown.
  ///   - first: What comes before it is followed.
  ///   - make: Makes what is to be followed.
  init(
    line: Result<Line, any Error>, scope: ContinuousScope?,
    validator: (any UserAccessValidating)? = nil,
    prepare: (@Sendable () async throws -> Void)? = nil,
    first: FirstAnswer<Live.E>,
    make: @escaping @Sendable () throws -> Live
  ) {
    self.line = line
    self.scope = scope
    self.validator = validator
    self.prepare = prepare
    self.first = first
    self.make = make
  }

  /// Whose access an iteration that begins now has.
  var access: UserAccess? { validator?.userAccess }

  /// Whether an iteration may go on to show what is here.
  ///
  /// - Parameter access: Whose access it began with: another user's view is not the one that was opened.
  /// - Returns: Whether it may.
  func allows(_ access: UserAccess?) -> Bool {
    guard let validator else { return true }
    let present = validator.userAccess
    return present.level != .none && present.user == access?.user
  }

  /// Waits until what is committed now is shown.
  func shown() async { try? await line.get().shown() }

  /// Joins those who follow it, or begins to follow it.
  ///
  /// - Throws: Why it can't be followed at all.
  func join() throws -> (live: Live, cursor: ObserverCursor) {
    let follow = try line.get().begin
    while true {
      let (live, isNew) = try shared.live(orMake: make)
      let cursor = live.observed.makeCursor()
      if isNew {
        begin(live, follow)
      } else if live.state.hasFailed {
        // One that failed before the cursor was made would never say so.
        shared.forget(live)
        continue
      }
      return (live, cursor)
    }
  }

  private func begin(_ live: Live, _ follow: @escaping @Sendable (Live) -> Void) {
    if let scope {
      scope.insert(live)
      live.endings.add { [number = live.number] in scope.remove(number) }
    }
    if case .local = first, prepare == nil { return follow(live) }
    if case .then = first, prepare == nil { follow(live) }
    let task = Task { [weak live, prepare, first] in
      do {
        try await prepare?()
        switch first {
        case .local: if let live { follow(live) }
        case .asked(let ask):
          let answer = try await ask()
          guard let live else { return }
          if let answer, live.show(answer) { return }
          follow(live)
        case .then(let ask):
          if prepare != nil, let live { follow(live) }
          _ = try await ask()
        }
      } catch {
        live?.state.fail(error)
      }
    }
    live.endings.add { task.cancel() }
  }
}
