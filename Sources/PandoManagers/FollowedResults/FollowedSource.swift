import PandoProviders
import PandoSystem

/// The source of a followed query or graph; iterations at the same time share one live object.
final class FollowedSource<Live: LiveView>: Sendable {
  /// The source of changes for live objects.
  struct Line: Sendable {
    /// Begins to follow a live object; returns at once.
    let begin: @Sendable (Live) -> Void
    /// Waits until all present commits are shown.
    let shown: @Sendable () async -> Void
  }

  private let make: @Sendable () throws -> Live
  private let line: Result<Line, any Error>
  private let scope: FollowedScope?
  private let validator: (any UserAccessValidating)?
  private let prepare: (@Sendable () async throws -> Void)?
  private let first: FirstAnswer<Live.E>
  private let shared = SharedLive<Live>()

  /// Makes a source without a live object.
  ///
  /// - Parameters:
  ///   - line: The source of changes, or the error why there is none.
  ///   - scope: Ends all iterations; `nil` if only the store does.
  ///   - validator: Says whether the user may see the result.
  ///   - prepare: Awaited before anything is shown.
  ///   - first: The request to send before or while it is followed.
  ///   - make: Makes the live object.
  init(
    line: Result<Line, any Error>, scope: FollowedScope?,
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

  /// The present access, for an iteration that begins now.
  var access: UserAccess? { validator?.userAccess }

  /// Whether an iteration may show entities.
  ///
  /// - Parameter access: The access when it began; another user may not see its entities.
  /// - Returns: Whether it may.
  func allows(_ access: UserAccess?) -> Bool {
    guard let validator else { return true }
    let present = validator.userAccess
    return present.level != .none && present.user == access?.user
  }

  /// Waits until all present commits are shown.
  func shown() async { try? await line.get().shown() }

  /// Returns the shared live object, or begins to follow a new one.
  ///
  /// - Throws: The error why it can't be followed.
  func join() throws -> (live: Live, cursor: ObserverCursor) {
    let follow = try line.get().begin
    while true {
      let (live, isNew) = try shared.live(orMake: make)
      let cursor = live.observed.makeCursor()
      if isNew {
        begin(live, follow)
      } else if live.state.hasFailed {
        // An object that failed before the cursor was made would not report its error.
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

extension FollowedSource {
  /// Makes a source of local values.
  ///
  /// - Parameters:
  ///   - hub: Follows the store, or the error why it can't be followed.
  ///   - make: Makes the live object.
  convenience init(
    _ hub: Result<StoreHub, any Error>, make: @escaping @Sendable () throws -> Live
  ) {
    let line = hub.map { hub in Line(begin: { hub.begin($0) }, shown: hub.shown) }
    self.init(line: line, scope: nil, first: .local, make: make)
  }
}
