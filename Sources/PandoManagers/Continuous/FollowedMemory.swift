/// A store in memory whose entities can be followed.
protocol FollowedMemory<E>: Sendable {
  associatedtype E: Entity

  /// All entities with their places in the natural order, and the place of the last write that they
  /// show.
  func present() -> (entities: [RankedEntity<E>], place: UInt64)
}
