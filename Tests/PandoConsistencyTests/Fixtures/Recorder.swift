import Dispatch
import PandoFixtures
import PandoSystem

/// Notes values from any thread.
final class Recorder<Value: Sendable>: Sendable {
  private let state = Locked<[Value]>([])

  var values: [Value] { state.withLock { $0 } }

  func append(_ value: Value) { state.withLock { $0.append(value) } }
}

/// Waits for an event without keeping a thread of the test's pool.
func wait(for event: Event) async {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      event.wait()
      continuation.resume()
    }
  }
}
