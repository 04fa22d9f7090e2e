/// What an update does to one holder, worked out and not yet shown.
package protocol StagedChange: Sendable {
  /// Shows the new state: swaps values, takes no time.
  ///
  /// Called on the pipeline while the publishing lock is held; together with all others of the update.
  func publish()

  /// Whether anybody may have to be told; asked after ``publish()``. It is `true` by default.
  var isTold: Bool { get }

  /// Tells delegates, closures and sequences.
  ///
  /// Called on the delivery target, outside every lock, in the order of the updates and within one in
  /// the order of the holders' numbers.
  func deliver()

  /// The batches that are told after their members; asked after ``deliver()``.
  var batches: [any LiveBatch] { get }
}

extension StagedChange {
  package var isTold: Bool { true }
}

/// Members that are told together.
package protocol LiveBatch: AnyObject, Sendable {
  /// Called once an update, after all its members have been told.
  ///
  /// - Parameter changes: The staged changes of the affected members, in order.
  func deliver(_ changes: [any StagedChange])
}
