/// The manager as the holders of its listeners know it.
protocol ListenerKeeper: AnyObject, Sendable {
  /// How many callbacks may wait for one listener.
  var backlogLimit: Int { get }

  /// Gives a number to a new holder.
  func makeHolderNumber() -> UInt64

  /// Has holders catch up together, in their order.
  func catchUp(_ holders: [ListenerHolder])

  /// Forgets the holder of a dead listener that the pipeline has met.
  func forget(_ holder: ListenerHolder)
}
