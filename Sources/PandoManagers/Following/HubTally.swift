/// How much work a hub has done.
///
/// Tests assert it: what costs nothing does not show here.
struct HubTally: Sendable, Equatable {
  /// How many changed entities were read.
  var reads = 0
  /// How many times an entity was held against a query.
  var evaluations = 0
  /// How many times a query had to ask for all its entities again.
  var refills = 0
}

extension HubTally {
  mutating func add(_ other: HubTally) {
    reads += other.reads
    evaluations += other.evaluations
    refills += other.refills
  }
}
