import Dispatch
import Foundation
import Synchronization

/// Ends the process where a run stands still: a wait that never ends can't be thrown out of.
enum Watchdog {
  /// How often it looks, and after how many looks without a step it gives up.
  private static let interval = DispatchTimeInterval.seconds(1)
  private static let patience = 15

  static func watching<Value>(
    _ ledger: Ledger, _ body: () async throws -> Value
  ) async rethrows -> Value {
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "watchdog"))
    let state = Mutex((mark: -1, idle: 0))
    timer.schedule(deadline: .now() + interval, repeating: interval)
    timer.setEventHandler {
      let (mark, waits) = ledger.progress
      let idle = state.withLock { state in
        state = mark == state.mark ? (mark, state.idle + 1) : (mark, 0)
        return state.idle
      }
      guard idle >= patience else { return }
      FileHandle.standardError.write(Data("FINDING: stands still and awaits \(waits)\n".utf8))
      abort()
    }
    timer.resume()
    defer { timer.cancel() }
    return try await body()
  }
}
