import Glibc
import Pando
import Synchronization

/// Waits until a commit is shown, which its number says, and notes how long that took.
final class ClockWatch: Sendable {
  private struct State {
    var shown = 0
    var wait: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    var delays: [Int] = []
  }

  /// Of so many commits the delay is noted between two looks.
  private static let delaysMaximum = 200

  let tree: TreeWatch<Models.Clock>
  private let process: Int
  private let ledger: Ledger
  private let state = Mutex(State())

  init(_ manager: DataModelManager, _ process: Int, _ ledger: Ledger) {
    self.process = process
    self.ledger = ledger
    tree = TreeWatch(manager, Models.Clock.key.rawValue, ledger, seesOrder: true)
    tree.whenTold { [weak self] in self?.note() }
  }

  func begin() async throws {
    try await tree.provider.fetchDataFromCache(withCacheKey: tree.key, listensWhenAbsent: true)
    tree.note()
    note()
  }

  private func note() {
    guard let clock = tree.provider.data else { return }
    let delay = Self.now - clock.time
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if clock.process != process, clock.count > state.shown,
        state.delays.count < Self.delaysMaximum
      {
        state.delays.append(delay / 1_000)
      }
      state.shown = max(state.shown, clock.count)
      guard let wait = state.wait, wait.count <= state.shown else { return nil }
      state.wait = nil
      return wait.continuation
    }
    waiter?.resume()
  }

  /// Waits until a delegate has been called for a commit.
  func wait(for count: Int) async {
    await ledger.awaiting("commit \(count) of the clock, which shows \(shown)") {
      await withCheckedContinuation { continuation in
        let isShown = state.withLock { state in
          if state.shown >= count { return true }
          state.wait = (count, continuation)
          return false
        }
        if isShown { continuation.resume() }
      }
    }
  }

  private var shown: Int { state.withLock { $0.shown } }

  /// Microseconds from within the write of another process until a delegate here, since the last time.
  func takeDelays() -> [Int] {
    state.withLock { state in
      defer { state.delays = [] }
      return state.delays
    }
  }

  /// Nanoseconds since the machine was started.
  static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
