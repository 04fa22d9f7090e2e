import PandoStore

/// Something that is read at an exact place in the order of commits.
struct StoreHubLoad: Sendable {
  /// Reads it, inside the transaction; may be called again when the flush is run again.
  let stage: @Sendable (ModelSnapshot, inout FollowingRun) -> Void
}
