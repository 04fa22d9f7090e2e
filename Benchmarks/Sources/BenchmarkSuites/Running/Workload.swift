/// The same work for several systems.
struct Workload {
  /// A system and its way to do the work.
  struct Contender {
    let system: System
    /// Does the work once and times it.
    let run: () throws -> Measurement
  }

  /// Short, without spaces; names of published figures don't change.
  let name: String
  /// What one operation is, for people.
  let operation: String
  /// How much of what, by name.
  let parameters: [String: Int]
  let goals: [Goal]
  let contenders: [Contender]
}
