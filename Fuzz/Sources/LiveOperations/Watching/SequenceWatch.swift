import Pando
import Synchronization

/// Follows an asynchronous sequence to its end, and keeps the newest element.
final class SequenceWatch<Value: Sendable & Equatable>: Sendable {
  private struct State {
    var newest: Value?
    var wait: (value: Value, continuation: CheckedContinuation<Void, Never>)?
    var hasEnded = false
  }

  let name: String
  private let ledger: Ledger
  private let state = Mutex(State())

  init(_ name: String, _ ledger: Ledger) {
    self.name = name
    self.ledger = ledger
  }

  /// Follows; returns when the sequence ends.
  func follow<Values: AsyncSequence & Sendable>(
    _ values: Values, _ value: @escaping @Sendable (Values.Element) -> Value
  ) -> Task<Void, Never> {
    Task { [self] in
      do {
        for try await element in values { note(value(element)) }
      } catch is CancellationError {
      } catch {
        ledger.find("\(name) ends with \(error)")
      }
      end()
    }
  }

  private func note(_ value: Value) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.newest = value
      guard let wait = state.wait, wait.value == value else { return nil }
      state.wait = nil
      return wait.continuation
    }
    waiter?.resume()
  }

  private func end() {
    let waiter = state.withLock { state in
      state.hasEnded = true
      defer { state.wait = nil }
      return state.wait?.continuation
    }
    waiter?.resume()
  }

  /// Waits until this is the newest element; the watchdog finds a missing one.
  func wait(until value: Value) async {
    await ledger.awaiting("\(name) to become \(value); it is \(newestText)") {
      await withCheckedContinuation { continuation in
        let isDone = state.withLock { state in
          if state.newest == value || state.hasEnded { return true }
          state.wait = (value, continuation)
          return false
        }
        if isDone { continuation.resume() }
      }
    }
  }

  private var newestText: String {
    state.withLock { $0.newest.map { String(describing: $0) } ?? "nothing" }
  }
}
