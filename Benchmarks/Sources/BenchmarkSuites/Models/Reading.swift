import Pando

/// Workloads that get models from databases that are there.
struct Reading {
  let runner: Runner
  /// Where the databases are.
  let pando: WorkingDirectory
  let sqlite: WorkingDirectory
  /// What to get, in which order.
  let identifiers: [String]
  let parameters: [String: Int]

  /// Measures gets as a type.
  ///
  /// - Parameters:
  ///   - name: The name of the workload.
  ///   - operation: What one get is, for people.
  ///   - type: The type to read models as.
  ///   - each: Whether each has a read transaction of its own.
  ///   - stride: One get in so many is timed.
  ///   - goal: What Pando should reach in terms of SQLite.
  ///   - others: What Pando should reach in terms of other systems.
  ///   - further: Other systems.
  /// - Throws: What ``Runner/measure(_:)`` throws.
  func measure<M: Model & Decodable & SQLiteReadable>(
    _ name: String, _ operation: String, _ type: M.Type, each: Bool, stride: Int = 4,
    goal: Double? = nil, others: [System: Double] = [:], _ further: [Workload.Contender] = []
  ) throws {
    let durability = runner.options.durability()
    // A part of the gets makes the pages known to the process, and fills caches.
    let first = Array(identifiers.prefix(max(1, identifiers.count / 5)))
    let checksum = ModelChecksum(isThorough: false)
    try runner.measure(
      Workload(
        name: name, operation: operation, parameters: parameters,
        goals: others.merging(goal.map { [.sqlite: $0] } ?? [:]) { $1 },
        contenders: [
          Workload.Contender(.pando) {
            let models = try PandoModels(pando, durability)
            _ = try models.get(type, first, each: each)
            return try .time(
              identifiers.count, stride: stride, in: pando,
              { try models.get(type, identifiers, each: each, checksum, $0) })
          },
          Workload.Contender(.sqlite) {
            let models = try SQLiteModels(sqlite, durability)
            _ = try models.get(type, first, each: each)
            return try .time(
              identifiers.count, stride: stride, in: sqlite,
              { try models.get(type, identifiers, each: each, checksum, $0) })
          },
        ] + further))
  }
}
