/// The effect of an update on one holder, staged and not shown yet.
package protocol StagedChange: Sendable {
  /// Publishes the new state; must be quick, because it only exchanges values.
  ///
  /// Called on the pipeline with the publishing lock held, together with all other changes of the
  /// update.
  func publish()

  /// True if callbacks may be due; read after ``publish()``. The default is `true`.
  var hasCallbacks: Bool { get }

  /// Calls delegates and closures, and resumes sequences.
  ///
  /// Called on the delivery target, outside every lock. The order is that of the updates, and that
  /// of the holders' numbers within an update.
  func deliver()

  /// The batches to notify after their members; read after ``deliver()``.
  var batches: [any LiveBatch] { get }
}

extension StagedChange {
  package var hasCallbacks: Bool { true }
}

/// A batch of members that receive their changes together.
package protocol LiveBatch: AnyObject, Sendable {
  /// Called once for each update, after all its members were called.
  ///
  /// - Parameter changes: The staged changes of the affected members, in order.
  func deliver(_ changes: [any StagedChange])
}
