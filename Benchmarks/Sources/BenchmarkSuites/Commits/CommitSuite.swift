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
        goals: writerCount >= 8 && durability == .full ? [.sqlite: 1] : [:],
        contenders: writers.contenders))
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

  /// What many writers gain, in Pando and by hand.
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
