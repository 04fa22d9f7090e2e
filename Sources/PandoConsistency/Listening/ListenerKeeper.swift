/// A manager as seen by the holders of its listeners.
protocol ListenerKeeper: AnyObject, Sendable {
  /// The maximum number of queued callbacks of one listener.
  var backlogLimit: Int { get }

  /// Returns a number for a new holder.
  func makeHolderNumber() -> UInt64

  /// Delivers the changes of pauses together, in the order of the holders.
  func catchUp(_ holders: [ListenerHolder])

  /// Removes the holder of a released listener that the pipeline has found.
  func forget(_ holder: ListenerHolder)
}
