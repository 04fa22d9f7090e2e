import PandoSystem

/// Somebody who writes whenever others are about to.
final class Rival: Sendable {
  private struct State {
    var write: (@Sendable (Int) throws -> Void)?
    var count = 0
  }

  private let state = Locked(State())

  /// How often it has written.
  var count: Int { state.withLock { $0.count } }

  func begin(_ write: @escaping @Sendable (Int) throws -> Void) {
    state.withLock { $0.write = write }
  }

  func end() { state.withLock { $0.write = nil } }

  func write() throws {
    let (write, number) = state.withLock { state in
      if state.write != nil { state.count += 1 }
      return (state.write, state.count)
    }
    try write?(number)
  }
}
