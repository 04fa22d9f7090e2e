import PandoSystem

/// The newest committed state of a provider, a followed query, an answer or a graph.
///
/// It also has the observers that wait for the next state.
///
/// Observers pull: each has the number of its last version. Only a waiting observer is registered
/// here. A slow observer therefore costs nothing, needs no deregistration, and gets the newest
/// state.
///
/// - One lock guards all properties.
/// - `contents`, `version`, `updated`, `resetVersion` and `context` describe the newest state.
/// - `failure` and `failureCount` describe failures; `isFinished` is final.
package final class ObservedState<Contents: Sendable>: Sendable {
  private struct State {
    var contents: Contents
    /// Starts at 1 and grows by one with each published state.
    var version: UInt64 = 1
    /// The rows whose contents differ from the version before, and perhaps new rows.
    ///
    /// `nil` if Pando did not compute them.
    var updated: [UInt32]?
    /// The last version in which the whole list was set.
    var resetVersion: UInt64 = 1
    var context: (any Sendable)?
    var failure: (any Error)?
    var failureCount: UInt64 = 0
    var isFinished = false
    var waiters = Waiters<Void>()
    /// The states of observers of several states.
    var bells: [WeakReference<ObservedState<Void>>] = []
  }

  /// A state that is new to an observer.
  package struct News: Sendable {
    package let contents: Contents
    /// True if the whole list was set since the observer's last state.
    package let isReset: Bool
    /// The rows whose contents differ from the observer's last state; `nil` if Pando did not
    /// compute them.
    package let updated: [UInt32]?
    /// The context that the writer of the last change passed; `nil` for the first state of an
    /// iteration.
    package let context: (any Sendable)?
  }

  private indirect enum Answer {
    case news(News)
    case failed(any Error)
    case finished
    case nothing
  }

  private let state: Locked<State>

  /// Creates a state with the committed contents.
  package init(_ contents: Contents) {
    state = Locked(State(contents: contents))
  }

  /// Publishes a new state.
  ///
  /// Returns quickly: waiting observers are resumed on another queue.
  ///
  /// - Parameters:
  ///   - contents: The committed contents.
  ///   - updated: The rows of a list with new contents; `nil` if they were not computed.
  ///   - isReset: True if the whole list was set.
  ///   - context: The context that the writer passed.
  package func publish(
    _ contents: Contents, updated: [UInt32]? = nil, isReset: Bool = false,
    context: (any Sendable)? = nil
  ) {
    wake { state in
      if state.isFinished { return }
      state.contents = contents
      state.version += 1
      state.updated = updated
      if isReset { state.resetVersion = state.version }
      state.context = context
    }
  }

  /// Ends all running observations; each of them gets the last state first.
  package func fail(_ error: any Error) {
    wake { state in
      if state.isFinished { return }
      state.failure = error
      state.failureCount += 1
    }
  }

  /// Ends all observations, including future ones; each of them gets the last state first.
  package func finish() {
    wake { $0.isFinished = true }
  }

  /// Publishes a state of another object after each news of this one.
  ///
  /// - Parameter bell: The other object, held weakly.
  package func ring(_ bell: ObservedState<Void>) {
    state.withLock { state in
      state.bells.removeAll { $0.object == nil }
      state.bells.append(WeakReference(bell))
    }
  }

  /// Starts an observation.
  package func makeCursor() -> ObserverCursor {
    ObserverCursor(failureCount: state.withLock { $0.failureCount })
  }

  /// Waits for a state that is new to an observer.
  ///
  /// - Returns: `nil` at the end, and when the task is cancelled.
  /// - Throws: The error that made the provider fail.
  package func next(
    _ cursor: inout ObserverCursor, isolation: isolated (any Actor)?
  ) async throws -> News? {
    while !cursor.isFinished, !Task.isCancelled {
      switch answer(&cursor) {
      case .news(let news): return news
      case .failed(let error): throw error
      case .finished, .nothing: await wait(cursor, isolation: isolation)
      }
    }
    cursor.isFinished = true
    return nil
  }

  /// Returns a state that is new to an observer, without waiting.
  ///
  /// - Returns: `nil` if there is none, and at the end.
  /// - Throws: The error that made the provider fail.
  package func newest(_ cursor: inout ObserverCursor) throws -> News? {
    if cursor.isFinished { return nil }
    switch answer(&cursor) {
    case .news(let news): return news
    case .failed(let error): throw error
    case .finished, .nothing: return nil
    }
  }

  /// Whether an observation ends after the newest state.
  package func endsObservation(_ cursor: ObserverCursor) -> Bool {
    state.withLock { $0.isFinished || $0.failureCount > cursor.failureCount }
  }

  /// The committed contents.
  package var contents: Contents { state.withLock { $0.contents } }

  /// The number of the newest state.
  package var version: UInt64 { state.withLock { $0.version } }

  /// The count of observers that wait at this moment.
  package var waiterCount: Int { state.withLock { $0.waiters.count } }

  private func answer(_ cursor: inout ObserverCursor) -> Answer {
    state.withLock { state in
      if state.version > cursor.version {
        defer { cursor.version = state.version }
        let isNext = state.version == cursor.version + 1
        return .news(
          News(
            contents: state.contents, isReset: state.resetVersion > cursor.version,
            updated: isNext ? state.updated : nil,
            context: cursor.version == 0 ? nil : state.context))
      }
      if let failure = state.failure, state.failureCount > cursor.failureCount {
        cursor.isFinished = true
        return .failed(failure)
      }
      if state.isFinished { cursor.isFinished = true }
      return state.isFinished ? .finished : .nothing
    }
  }

  private func wait(_ cursor: ObserverCursor, isolation: isolated (any Actor)?) async {
    if cursor.isFinished { return }
    try? await state.wait(in: \.waiters) { state, _ in
      state.isFinished || state.version > cursor.version
        || state.failureCount > cursor.failureCount ? .success(()) : nil
    }
  }

  private func wake(_ change: (inout State) -> Void) {
    let (waiters, bells) = state.withLock { state in
      change(&state)
      return (state.waiters.count == 0 ? nil : state.waiters.takeAll(), state.bells)
    }
    if let waiters { ObserverWaker.shared.wake(waiters) }
    for bell in bells { bell.object?.publish(()) }
  }
}
