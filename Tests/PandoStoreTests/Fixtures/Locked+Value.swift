import PandoSystem

extension Locked where Value: Sendable {
  /// The value that the closures of a test have left.
  var value: Value { withLock { $0 } }
}
