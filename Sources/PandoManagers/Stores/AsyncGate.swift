import PandoSystem

/// Runs the work of one task at a time, in the order of the calls.
final class AsyncGate: Sendable {
  private struct State {
    var isTaken = false
    var waiting = Deque<CheckedContinuation<Void, Never>>()
  }

  private let state = Locked(State())

  /// Waits for its turn and runs `body`.
  func run<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    await enter()
    defer { leave() }
    return try await body()
  }

  /// Runs `body`, unless other work is running.
  func runIfFree(_ body: () async throws -> Void) async rethrows {
    let isFree = state.withLock { state in
      defer { state.isTaken = true }
      return !state.isTaken
    }
    guard isFree else { return }
    defer { leave() }
    try await body()
  }

  private func enter() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isTaken { state.waiting.append(continuation) }
        defer { state.isTaken = true }
        return !state.isTaken
      }
      if isFree { continuation.resume() }
    }
  }

  private func leave() {
    let next = state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil { state.isTaken = false }
      return next
    }
    next?.resume()
  }
}
