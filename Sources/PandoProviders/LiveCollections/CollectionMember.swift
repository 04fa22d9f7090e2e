import PandoModels

/// A provider that shows a collection.
protocol CollectionMember<T>: AnyObject, Sendable {
  associatedtype T: SimpleModel

  /// Calls the provider's delegate, on the delivery target.
  ///
  /// - Parameters:
  ///   - telling: The change.
  ///   - list: The list after the change.
  func tell(_ telling: ListTelling<T>, _ list: [T])

  /// Records a change for the provider's batch; called after the delegate.
  ///
  /// - Returns: The batch to notify after its members.
  func noteForBatch(_ telling: ListTelling<T>) -> BatchCore?
}
