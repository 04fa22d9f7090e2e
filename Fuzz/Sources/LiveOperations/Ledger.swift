import Synchronization

/// The steps and findings of a run; any thread writes in it.
final class Ledger: Sendable {
  private struct State {
    var number = 0
    var stepCount = 0
    var log: [String] = []
    var finding: LiveFinding?
    var loose: Set<Int> = []
    var waits: [Int: String] = [:]
    var waitCount = 0
  }

  private static let logMaximum = 80
  private let state = Mutex(State())
  private let trace: (@Sendable (String) -> Void)?

  init(trace: (@Sendable (String) -> Void)?) { self.trace = trace }

  /// The number of new content: higher than all before.
  func nextNumber() -> Int {
    state.withLock { state in
      state.number += 1
      return state.number
    }
  }

  /// Notes what a task does next.
  func step(_ task: Int, _ text: @autoclosure () -> String) {
    let line = "\(task): \(text())"
    trace?(line)
    state.withLock { state in
      state.stepCount += 1
      state.log.append(line)
      if state.log.count > Self.logMaximum { state.log.removeFirst(Self.logMaximum / 2) }
    }
  }

  /// From now on calls on an item are in no order.
  func loosen(_ name: Int) { state.withLock { _ = $0.loose.insert(name) } }

  func isLoose(_ name: Int) -> Bool { state.withLock { $0.loose.contains(name) } }

  var stepCount: Int { state.withLock { $0.stepCount } }

  /// Notes what is wrong; the first counts.
  func find(_ text: @autoclosure () -> String, isOfNaiveRows: Bool = false) {
    state.withLock { state in
      guard state.finding == nil else { return }
      let log = state.log.suffix(60).joined(separator: "\n")
      state.finding = LiveFinding("\(text())\nafter\n\(log)", isOfNaiveRows: isOfNaiveRows)
    }
  }

  /// Notes what is wrong unless something is true.
  func require(
    _ condition: Bool, _ text: @autoclosure () -> String, isOfNaiveRows: Bool = false
  ) {
    if !condition { find(text(), isOfNaiveRows: isOfNaiveRows) }
  }

  func throwFinding() throws {
    if let finding = state.withLock({ $0.finding }) { throw finding }
  }

  var hasFinding: Bool { state.withLock { $0.finding != nil } }

  /// Waits for something that a watchdog can name.
  func awaiting<Value>(
    _ name: @autoclosure () -> String, _ body: () async throws -> Value
  ) async rethrows -> Value {
    let wait = state.withLock { state in
      state.waitCount += 1
      return state.waitCount
    }
    let text = name()
    state.withLock { $0.waits[wait] = text }
    defer { state.withLock { _ = $0.waits.removeValue(forKey: wait) } }
    return try await body()
  }

  /// A mark that changes with each event, and the awaited events.
  var progress: (mark: Int, waits: String) {
    state.withLock { state in
      let waits = state.waits.values.sorted().joined(separator: "; ")
      let log = state.log.suffix(60).joined(separator: "\n")
      return (state.waitCount + state.stepCount, "\(waits)\nafter\n\(log)")
    }
  }
}
