import PandoModels
import PandoStore

/// A graph that is followed, whatever its root is.
protocol FollowedGraph: Followed {
  /// Works out what a commit means for it.
  func stage(
    _ touched: Set<ByteString>?, _ snapshot: ModelSnapshot, _ run: inout FollowingRun,
    _ hub: StoreHub)
}
