import PandoSystem

/// Iterates over a followed query, entity or graph and keeps all received elements.
///
/// ```swift
/// let recorder = FollowedRecorder(books.followAll())
/// try await books.set(book)
/// let shown = try await recorder.element { $0.count == 1 }
/// recorder.cancel()
/// ```
///
/// An observer slower than the changes receives only the newest element, and so does the recorder.
/// Any thread may use it.
public final class FollowedRecorder<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var end: Result<Void, any Error>?
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Locked<State>
  private let task: Task<Void, Never>

  /// Starts to iterate.
  ///
  /// - Parameter sequence: The sequence to record.
  public init(_ sequence: some AsyncSequence<Element, any Error> & Sendable) {
    let state = Locked(State())
    self.state = state
    task = Task {
      var end: Result<Void, any Error> = .success(())
      do {
        for try await element in sequence { Self.change(state) { $0.elements.append(element) } }
      } catch {
        end = .failure(error)
      }
      let last = end
      Self.change(state) { $0.end = last }
    }
  }

  deinit { task.cancel() }

  /// All elements received so far.
  public var elements: [Element] { state.withLock { $0.elements } }

  /// Waits for an element that meets a condition, starting with those already received.
  ///
  /// - Parameter condition: The condition.
  /// - Returns: The first element that meets the condition.
  /// - Throws: The error that ended the sequence; another one if it ended without an error.
  @discardableResult
  public func element(where condition: (Element) -> Bool) async throws -> Element {
    var seen = 0
    while true {
      let (elements, end) = state.withLock { ($0.elements, $0.end) }
      if let element = elements[seen...].first(where: condition) { return element }
      seen = elements.count
      if let end {
        try end.get()
        throw FollowedEnd()
      }
      await wait(after: seen)
    }
  }

  /// Ends the iteration.
  public func cancel() { task.cancel() }

  private func wait(after seen: Int) async {
    await withCheckedContinuation { continuation in
      let waits = state.withLock { state in
        if state.elements.count > seen || state.end != nil { return false }
        state.waiters.append(continuation)
        return true
      }
      if !waits { continuation.resume() }
    }
  }

  private static func change(_ state: Locked<State>, _ change: (inout State) -> Void) {
    let waiters = state.withLock { state in
      change(&state)
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}
