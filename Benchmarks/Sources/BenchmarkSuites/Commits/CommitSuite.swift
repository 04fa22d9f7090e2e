import CPeerSQLite
import Pando

/// Durable commits of small writes: what they cost one writer, what many gain by sharing them, and
/// what batches gain.
///
/// Pando and RocksDB let writers that know nothing of each other share a flush; with LMDB and SQLite
/// they take turns. `batch-64` puts as many writes into a commit by hand: what sharing can reach.
struct CommitSuite {
  let runner: Runner
  let data: ModelData

  init(_ runner: Runner) {
    self.runner = runner
    data = ModelData(seed: runner.options.seed)
  }

  /// Measures everything.
  func run() throws {
    for durability in Durability.allCases {
      for writerCount in runner.options.threadCounts([1, 8, 64]) {
        try measureWriters(writerCount, durability)
      }
    }
    for batch in [1, 10, 64, 1_000] { try measureBatches(batch) }
    compareGains()
    for durability in Durability.allCases { try measureRefusals(durability) }
    try measureSteadyWriting()
  }

  /// The cost of checkpoints to a thread that writes all the time, and the rate that the disk would allow.
  private func measureSteadyWriting() throws {
    let people = data.people(runner.options.scaled(smoke: 100, standard: 10_000))
    let steady = SteadyWriting(
      runner, people,
      count: runner.options.scaled(smoke: 50, standard: 50_000, large: 600_000))
    let relaxed = Durability.relaxed()
    try runner.measure([steady.workload(relaxed), steady.workload(.unsynchronized)])
    guard let growth = steady.growthInBytes,
      let entry = runner.entry(.pando, in: "steady-relaxed"),
      let other = runner.entry(.pando, in: "steady-unsynchronized"),
      let byteCount = entry.writtenByteCountPerOperation
    else { return }
    func median(_ entry: WorkloadResult.Entry) -> Double {
      Double(entry.latencies.nanoseconds(atShare: 0.5))
    }
    runner.add(
      Comparison(
        name: "commit/steady/growth", title: "commit, growth of a relaxed store while written",
        value: Double(growth) / 1_048_576, unit: "MiB", goal: .atMost(64)))
    runner.add(
      Comparison(
        name: "commit/steady/p50", title: "commit, p50 of steady writing, relaxed : unsynchronized",
        value: median(entry) / median(other), goal: .atMost(2)))
    let disk = try steady.diskRate(
      byteCount: runner.options.scaled(smoke: 1 << 20, standard: 512 << 20))
    runner.add(
      Comparison(
        name: "commit/steady/disk",
        title: "commit, steady writing relaxed : what the disk allows with so many bytes a commit",
        value: entry.operationsPerSecond / (disk / byteCount), goal: .atLeast(0.7)))
    runner.add(
      Comparison(
        name: "commit/steady/relaxed:unsynchronized",
        title: "commit, steady writing, relaxed : unsynchronized",
        value: entry.operationsPerSecond / other.operationsPerSecond, goal: nil))
  }

  private func measureWriters(_ writerCount: Int, _ durability: Durability) throws {
    let perWriter =
      switch writerCount {
      case 1: runner.options.scaled(smoke: 16, standard: 1_000)
      case 8: runner.options.scaled(smoke: 4, standard: 250)
      default: runner.options.scaled(smoke: 1, standard: 100)
      }
    let people = data.people(perWriter * writerCount)
    let suffix = durability == .full ? "" : "-\(durability.name)"
    let writers = CommitWriters(runner, people, count: writerCount, durability)
    try runner.measure(
      Workload(
        name: "writers-\(writerCount)\(suffix)",
        operation: "put of a new 8-field model, a commit each",
        parameters: ["models": people.count, "writers": writerCount], durability: durability,
        goals: goals(writerCount, durability),
        contenders: writers.contenders))
  }

  private func goals(_ writerCount: Int, _ durability: Durability) -> [System: Double] {
    switch durability {
    case .relaxed: [.sqlite: writerCount == 1 ? 1 : 2]
    case .unsynchronized where writerCount == 1: [.lmdb: 0.7, .sqlite: 1]
    case .full where writerCount >= 8: [.sqlite: 1]
    default: [:]
    }
  }

  private func measureBatches(_ batch: Int) throws {
    let count = runner.options.scaled(
      smoke: max(16, 2 * batch), standard: max(1_000, min(100 * batch, 50_000)))
    let people = data.people(count)
    let batches = CommitBatches(runner, people, size: batch)
    try runner.measure(
      Workload(
        name: "batch-\(batch)", operation: "put of a new 8-field model, \(batch) in a commit",
        parameters: ["models": count, "perCommit": batch],
        durability: runner.options.durability(), contenders: batches.contenders))
  }

  /// The gain of many writers, in Pando and by hand.
  private func compareGains() {
    guard let one = runner.rate(.pando, in: "writers-1"),
      let many = runner.rate(.pando, in: "writers-64")
    else { return }
    runner.add(
      Comparison(
        name: "commit/gain/pando-writers-64:pando-writers-1",
        title: "commit, Pando, 64 writers : one", value: many / one, goal: .atLeast(10)))
    guard let plainOne = runner.rate(.lmdb, in: "batch-1"),
      let plainMany = runner.rate(.lmdb, in: "batch-64")
    else { return }
    runner.add(
      Comparison(
        name: "commit/gain/lmdb-batch-64:lmdb-batch-1",
        title: "commit, C on LMDB, 64 a commit by hand : one", value: plainMany / plainOne,
        goal: nil))
    runner.add(
      Comparison(
        name: "commit/gain/pando:lmdb", title: "commit, Pando's gain : what C gains by hand",
        value: many / one / (plainMany / plainOne), goal: .atLeast(0.8)))
  }
}
