import PandoSystem

extension Locked where Value: Sendable {
  /// What the closures of a test have left there.
  var value: Value { withLock { $0 } }
}
