import Pando

/// Workloads that get models from databases that are there.
struct Reading {
  let runner: Runner
  /// Where the databases are.
  let pando: WorkingDirectory
  let sqlite: WorkingDirectory
  /// The identifiers to get, in order.
  let identifiers: [String]
  let parameters: [String: Int]

  /// Measures gets as a type.
  ///
  /// - Parameters:
  ///   - name: The name of the workload.
  ///   - operation: A description of one get, for people.
  ///   - type: The type to read models as.
  ///   - each: Whether each has a read transaction of its own.
  ///   - stride: One get in so many is timed.
  ///   - goal: The goal in terms of SQLite.
  ///   - others: The goals in terms of other systems.
  ///   - modelGoal: The goal in terms of SQLite with `@Model`.
  ///   - further: Other systems.
  /// - Throws: The error of ``Runner/measure(_:)``.
  func measure<M: Model & Decodable & SQLiteReadable>(
    _ name: String, _ operation: String, _ type: M.Type, each: Bool, stride: Int = 4,
    goal: Double? = nil, others: [System: Double] = [:], modelGoal: Double? = nil,
    _ further: [Workload.Contender] = []
  ) throws {
    let durability = runner.options.durability()
    let first = first
    let checksum = ModelChecksum(isThorough: false)
    try runner.measure(
      Workload(
        name: name, operation: operation, parameters: parameters,
        goals: others.merging(goal.map { [.sqlite: $0] } ?? [:]) { $1 },
        modelGoals: modelGoal.map { [.sqlite: $0] } ?? [:],
        contenders: [
          contender(.pando, type, each: each, stride: stride),
          Workload.Contender(.sqlite) {
            let models = try SQLiteModels(sqlite, durability)
            _ = try models.get(type, first, each: each)
            return try .time(
              identifiers.count, stride: stride, in: sqlite,
              { try models.get(type, identifiers, each: each, checksum, $0) })
          },
        ] + further))
  }

  /// Pando's part with models of another type.
  func contender<M: SimpleModel & Decodable & Checksummed>(
    _ system: System, _ type: M.Type, each: Bool, stride: Int = 4
  ) -> Workload.Contender {
    let durability = runner.options.durability()
    return Workload.Contender(system) {
      let models = try PandoModels(pando, durability)
      _ = try models.get(type, first, each: each)
      return try .time(
        identifiers.count, stride: stride, in: pando,
        { latencies in
          try models.get(
            type, identifiers, each: each, ModelChecksum(isThorough: false), latencies)
        })
    }
  }

  /// A part of the gets, which makes the pages known to the process and fills caches.
  private var first: [String] { Array(identifiers.prefix(max(1, identifiers.count / 5))) }
}
