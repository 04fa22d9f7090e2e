import Pando

/// The cost of an operation as the store grows from a thousand nodes to a million.
///
/// Ten millions in the large size. Ten of eleven nodes are messages, which share the eleventh as their author.
/// Changes are one commit, without a flush unless one is asked for.
struct ScaleSuite {
  private let runner: Runner
  private let data: ModelData
  private let durability: Durability

  init(_ runner: Runner) {
    self.runner = runner
    data = ModelData(seed: runner.options.seed)
    durability = runner.options.durability(default: .unsynchronized)
  }

  /// Measures everything.
  func run() throws {
    let sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]
      .prefix(runner.options.scaled(smoke: 2, standard: 4, large: 5))
    for size in sizes { try measure(size) }
    guard let first = sizes.first, let last = sizes.last, first != last else { return }
    for name in ["get", "put", "propagate"] { compareGrowth(name, first, last) }
    for size in sizes { reportBytesPerNode(size) }
  }

  private func measure(_ size: Int) throws {
    let forest = ScaleForest(
      data, nodeCount: size,
      changeCount: runner.options.scaled(smoke: 100, standard: 2_000),
      lookupCount: runner.options.scaled(smoke: 1_000, standard: 50_000))
    let stores = try ScaleStores(runner, forest, durability)
    try runner.measure(
      workload(
        "get", "get of a message with its author, one read transaction for all", size,
        forest.lookups.count, stores.getting))
    try runner.measure(
      workload(
        "put", "put of a changed message, one commit for all", size,
        forest.changedMessages.count,
        stores.putting(forest.messagesToChange, forest.changedMessages)))
    try runner.measure(
      workload(
        "propagate", "put of a changed author, who is in ten trees, one commit for all", size,
        forest.changedAuthors.count, stores.propagating))
  }

  private func workload(
    _ name: String, _ operation: String, _ size: Int, _ count: Int,
    _ contenders: [Workload.Contender]
  ) -> Workload {
    Workload(
      name: "\(name)-\(size)", operation: operation,
      parameters: ["nodes": size, "operations": count], durability: durability,
      series: Workload.Series(name: name, unit: "nodes", size: size), contenders: contenders)
  }

  /// How much more an operation costs in the largest store, in terms of how much more it costs C.
  private func compareGrowth(_ name: String, _ first: Int, _ last: Int) {
    func growth(_ system: System) -> Double? {
      guard let small = runner.rate(system, in: "\(name)-\(first)"),
        let large = runner.rate(system, in: "\(name)-\(last)")
      else { return nil }
      return small / large
    }
    guard let pando = growth(.pando) else { return }
    runner.add(
      Comparison(
        name: "scale/\(name)/growth-pando",
        title: "scale \(name), Pando, cost with \(last) : \(first)",
        value: pando, goal: nil))
    guard let plain = growth(.lmdb) else { return }
    runner.add(
      Comparison(
        name: "scale/\(name)/growth-pando:lmdb",
        title: "scale \(name), growth of Pando's cost : growth of C's", value: pando / plain,
        goal: .atMost(1)))
  }

  private func reportBytesPerNode(_ size: Int) {
    for system in [System.pando, .lmdb, .sqlite] {
      guard let bytes = runner.entry(system, in: "get-\(size)")?.fileByteCount else { continue }
      runner.add(
        Comparison(
          name: "scale/bytes-per-node-\(size)/\(system.rawValue)",
          title: "scale, \(system.title), bytes on disk for each of \(size) nodes",
          value: bytes / Double(size), unit: "B", goal: nil))
    }
  }
}
