import PandoSystem

/// Wakes the worker of a queue; reasons that are set while it works are kept.
final class QueueSignal: Sendable {
  /// Why the worker wakes.
  struct Reasons: OptionSet {
    let rawValue: Int
    /// A new request.
    static let request = Reasons(rawValue: 1)
    /// The pause after a failure is over.
    static let timer = Reasons(rawValue: 2)
    /// A request has ended, or its delay is over.
    static let progress = Reasons(rawValue: 4)
    /// A call of ``APIClientQueue/flush()``.
    static let flush = Reasons(rawValue: 8)
  }

  private struct State {
    var reasons: Reasons = []
    var isClosed = false
    var waiting: CheckedContinuation<Reasons?, Never>?
  }

  private let state = Locked(State())

  func set(_ reasons: Reasons) {
    let continuation = state.withLock { state -> CheckedContinuation<Reasons?, Never>? in
      guard !state.isClosed else { return nil }
      if let waiting = state.waiting {
        state.waiting = nil
        return waiting
      }
      state.reasons.formUnion(reasons)
      return nil
    }
    continuation?.resume(returning: reasons)
  }

  /// Removes reasons that the worker has not received yet.
  func forget(_ reasons: Reasons) { state.withLock { $0.reasons.subtract(reasons) } }

  /// Closes it; a task that waits gets `nil`.
  func close() {
    let continuation = state.withLock { state in
      state.isClosed = true
      defer { state.waiting = nil }
      return state.waiting
    }
    continuation?.resume(returning: nil)
  }

  /// Waits until there is a reason.
  ///
  /// - Returns: `nil` once it is closed.
  func next() async -> Reasons? {
    await withCheckedContinuation { continuation in
      let outcome: Reasons?? = state.withLock { state in
        if state.isClosed { return .some(nil) }
        if state.reasons.isEmpty {
          state.waiting = continuation
          return .none
        }
        defer { state.reasons = [] }
        return .some(state.reasons)
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
  }
}
