/// Durable commits of small writes: what they cost one writer, and what many gain by sharing them.
///
/// Plain C does by hand what group commit does for threads that know nothing of each other: it puts
/// as many writes into one transaction as there are writers.
struct CommitSuite {
  private static let writerCount = 64

  private let runner: Runner
  private let people: [Person]
  private let flat: FlatPeople

  init(_ runner: Runner) {
    self.runner = runner
    let count = Self.writerCount * runner.options.scaled(smoke: 2, standard: 100)
    people = ModelData(seed: runner.options.seed).people(count)
    flat = FlatPeople(people)
  }

  /// Measures everything.
  func run() throws {
    let gain = Goal.Quotient(system: .pandoManyWriters, reference: .pando)
    let gainOfC = Goal.Quotient(system: .plainLMDBBatches, reference: .plainLMDB)
    try runner.measure(
      Workload(
        name: "put-model", operation: "durable put of a new 8-field model",
        parameters: ["models": people.count, "writers": Self.writerCount],
        goals: [
          Goal(.pandoManyWriters, over: .pando, minimum: 10),
          Goal(gain, dividedBy: gainOfC, minimum: 0.8),
          Goal(.pando, over: .plainLMDB),
          Goal(.pando, over: .sqlite),
          Goal(.pandoManyWriters, over: .sqlite),
        ],
        contenders: [
          pando(.pando, writerCount: 1), pando(.pandoManyWriters, writerCount: Self.writerCount),
          plain(.plainLMDB, batch: 1), plain(.plainLMDBBatches, batch: Self.writerCount),
          sqlite(.sqlite, batch: 1), sqlite(.sqliteBatches, batch: Self.writerCount),
        ]))
  }

  private func pando(_ system: System, writerCount: Int) -> Workload.Contender {
    Workload.Contender(system: system) {
      let pando = try PandoModels(runner.makeDirectory())
      return try .time(people.count) {
        try pando.commitEach(people, writerCount: writerCount)
      } thenChecksum: {
        try pando.fingerprint()
      }
    }
  }

  private func plain(_ system: System, batch: Int) -> Workload.Contender {
    Workload.Contender(system: system) {
      let store = try PlainStore(runner.makeDirectory())
      return try .time(people.count) {
        try store.commit(flat, peoplePerCommit: batch)
      } thenChecksum: {
        try store.fingerprint()
      }
    }
  }

  private func sqlite(_ system: System, batch: Int) -> Workload.Contender {
    Workload.Contender(system: system) {
      let sqlite = try SQLiteModels(runner.makeDirectory())
      return try .time(people.count) {
        try sqlite.put(flat, peoplePerCommit: batch)
      } thenChecksum: {
        try sqlite.fingerprint()
      }
    }
  }
}
