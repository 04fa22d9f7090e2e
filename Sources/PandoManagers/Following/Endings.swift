import PandoSystem

/// Cleanup closures, run when the last observer releases a followed query or graph.
final class Endings: Sendable {
  private let bodies = Locked<[@Sendable () -> Void]>([])

  deinit {
    for body in bodies.withLock({ $0 }) { body() }
  }

  /// Adds a closure.
  ///
  /// - Parameter body: Must not hold the followed object.
  func add(_ body: @escaping @Sendable () -> Void) { bodies.withLock { $0.append(body) } }
}
