import PandoSystem

/// The newest committed state of one provider, and who waits for the next.
///
/// Observers pull: each remembers the version it has seen, and none is registered here unless it waits
/// at this moment. So a slow one costs nothing, ends without a word, and gets the newest state.
package final class ObservedState<Contents: Sendable>: Sendable {
  private struct State {
    var contents: Contents
    /// Counts from 1; grows by one with each published state.
    var version: UInt64 = 1
    /// The rows with other contents than in the version before, and perhaps new ones; `nil` if they
    /// are not known.
    var updated: [UInt32]?
    /// The last version that was set as a whole.
    var resetVersion: UInt64 = 1
    var context: (any Sendable)?
    var failure: (any Error)?
    var failureCount: UInt64 = 0
    var isFinished = false
    var waiters = Waiters<Void>()
  }

  /// A state that an observer has not seen.
  package struct News: Sendable {
    package let contents: Contents
    /// Whether it was set as a whole since the state that the observer has seen.
    package let isReset: Bool
    /// The rows with other contents than in the state that the observer has seen; `nil` if they are
    /// not known.
    package let updated: [UInt32]?
    /// What the writer of the last change passed along; `nil` for an observer that begins.
    package let context: (any Sendable)?
  }

  private indirect enum Answer {
    case news(News)
    case failed(any Error)
    case finished
    case nothing
  }

  private let state: Locked<State>

  /// Begins with what is committed now.
  package init(_ contents: Contents) {
    state = Locked(State(contents: contents))
  }

  /// Shows a new state.
  ///
  /// Takes no time: those who wait are woken elsewhere.
  ///
  /// - Parameters:
  ///   - contents: What is committed now.
  ///   - updated: The rows of a list whose contents are not what they were; `nil` if they are not known.
  ///   - isReset: Whether a list was set as a whole.
  ///   - context: What the writer passed along.
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

  /// Ends all observations that have begun; each still gets the last state first.
  package func fail(_ error: any Error) {
    wake { state in
      if state.isFinished { return }
      state.failure = error
      state.failureCount += 1
    }
  }

  /// Ends all observations, also those to come; each still gets the last state first.
  package func finish() {
    wake { $0.isFinished = true }
  }

  /// Begins an observation.
  package func makeCursor() -> ObserverCursor {
    ObserverCursor(failureCount: state.withLock { $0.failureCount })
  }

  /// Waits for a state that an observer has not seen.
  ///
  /// - Returns: `nil` at the end, and when the task is cancelled.
  /// - Throws: What made the provider fail.
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

  /// Gives a state that an observer has not seen, if there is one.
  ///
  /// - Returns: `nil` if there is none, and at the end.
  /// - Throws: What made the provider fail.
  package func newest(_ cursor: inout ObserverCursor) throws -> News? {
    if cursor.isFinished { return nil }
    switch answer(&cursor) {
    case .news(let news): return news
    case .failed(let error): throw error
    case .finished, .nothing: return nil
    }
  }

  /// What is committed now.
  package var contents: Contents { state.withLock { $0.contents } }

  /// How many states there were.
  package var version: UInt64 { state.withLock { $0.version } }

  /// How many observers wait at this moment.
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
    let waiters = state.withLock { state in
      change(&state)
      return state.waiters.takeAll()
    }
    if !waiters.isEmpty { ObserverWaker.shared.wake(waiters) }
  }
}
