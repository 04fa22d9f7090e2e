/// A provider as the collection that it shows knows it.
protocol CollectionMember: AnyObject, Sendable {
  /// Tells its delegate, on the delivery target.
  ///
  /// - Returns: The batch that is to be told behind its members.
  func tell(_ telling: ListTelling) -> BatchCore?
}
