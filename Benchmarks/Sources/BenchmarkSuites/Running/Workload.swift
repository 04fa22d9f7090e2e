import Pando

/// The same work for several systems.
struct Workload {
  /// A system and its way to do the work.
  struct Contender {
    let system: System
    /// Opens a database, does the work once, times it, and closes the database.
    let run: () throws -> Measurement

    init(_ system: System, run: @escaping () throws -> Measurement) {
      self.system = system
      self.run = run
    }
  }

  /// Short, without spaces; names of published figures don't change.
  let name: String
  /// A description of one operation, for people.
  let operation: String
  /// How much of what, by name.
  let parameters: [String: Int]
  /// The durability of commits, if anything is committed.
  var durability: Durability?
  /// The goals: the rate of Pando in terms of another system's.
  var goals: [System: Double] = [:]
  /// The same for Pando with models that `@Model` declares.
  var modelGoals: [System: Double] = [:]
  /// The size that grows in a family of workloads, for the plot of cost against size.
  var series: Series?
  let contenders: [Contender]

  /// A place in a family of workloads that differ in size only.
  struct Series: Sendable {
    /// The name of the family.
    let name: String
    /// The unit of the size.
    let unit: String
    let size: Int
  }
}
