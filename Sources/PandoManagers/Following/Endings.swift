import PandoSystem

/// What is to be done when nobody follows something any more: when this goes, with what it belongs to.
final class Endings: Sendable {
  private let bodies = Locked<[@Sendable () -> Void]>([])

  deinit {
    for body in bodies.withLock({ $0 }) { body() }
  }

  /// Adds something to do.
  ///
  /// - Parameter body: Must not keep alive what is followed.
  func add(_ body: @escaping @Sendable () -> Void) { bodies.withLock { $0.append(body) } }
}
