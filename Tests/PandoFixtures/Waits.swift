import PandoSystem

/// What threads of the tests wait for at present: the watchdog names it.
enum Waits {
  private struct State {
    var waits: [Int: String] = [:]
    var last = 0
  }

  private static let state = Locked(State())

  /// What is waited for, the oldest wait first.
  static var all: [String] {
    state.withLock { state in state.waits.sorted { $0.key < $1.key }.map(\.value) }
  }

  /// Notes a wait as long as it lasts.
  ///
  /// - Parameters:
  ///   - what: What is waited for.
  ///   - file: Where.
  ///   - line: Where.
  ///   - body: Waits.
  /// - Returns: What `body` returns.
  static func during<Result>(
    _ what: @autoclosure () -> String, _ file: StaticString, _ line: UInt, _ body: () -> Result
  ) -> Result {
    let number = begin("\(file):\(line) waits for \(what())")
    defer { end(number) }
    return body()
  }

  /// Notes a wait until ``end(_:)`` gets its number.
  static func begin(_ text: String) -> Int {
    state.withLock { state in
      state.last += 1
      state.waits[state.last] = text
      return state.last
    }
  }

  /// Forgets a wait.
  static func end(_ number: Int) {
    state.withLock { $0.waits[number] = nil }
  }
}
