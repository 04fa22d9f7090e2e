import PandoModels
import PandoStore

/// A graph that is followed, whatever its root is.
protocol FollowedGraph: Followed {
  /// Ends it by an error.
  func fail(_ error: any Error, _ hub: StoreHub)
  /// Works out what a commit means for it.
  func stage(
    _ touched: Set<ByteString>?, _ snapshot: ModelSnapshot, _ run: inout FollowingRun,
    _ hub: StoreHub)
}
