import PandoModels

/// A provider as the collection that it shows knows it.
protocol CollectionMember<T>: AnyObject, Sendable {
  associatedtype T: SimpleModel

  /// Calls its delegate, on the delivery target.
  func tell(_ telling: ListTelling<T>, _ list: [T])

  /// Notes a change for its batch, once the delegate has been called for it.
  ///
  /// - Returns: The batch that is to be told behind its members.
  func noteForBatch(_ telling: ListTelling<T>) -> BatchCore?
}
