/// Counts of a hub's work, for tests.
struct HubTally: Sendable, Equatable {
  /// Changed entities that were read.
  var reads = 0
  /// Checks of an entity against a query.
  var evaluations = 0
  /// Queries whose windows were filled again.
  var refills = 0
  /// Queries, answers and graphs that were staged from a snapshot.
  var snapshots = 0
}

extension HubTally {
  mutating func add(_ other: HubTally) {
    reads += other.reads
    evaluations += other.evaluations
    refills += other.refills
    snapshots += other.snapshots
  }
}
