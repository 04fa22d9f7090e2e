import PandoModels
import PandoStore

/// A followed graph, for any type of root.
protocol FollowedGraph: Followed {
  /// Ends the graph with an error.
  func fail(_ error: any Error, _ hub: StoreHub)
  /// Stages the graph after a commit.
  func stage(
    _ touched: Set<ByteString>?, _ snapshot: ModelSnapshot, _ run: inout FollowingRun,
    _ hub: StoreHub)
}
