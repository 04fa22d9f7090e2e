/// Models and trees: the whole store beside SQLite with the same guarantees.
struct ModelSuite {
  private let runner: Runner
  private let data: ModelData
  private let personCount: Int
  private let treeCount: Int
  private let lookupCount: Int

  init(_ runner: Runner) {
    self.runner = runner
    data = ModelData(seed: runner.options.seed)
    personCount = runner.options.scaled(smoke: 10_000, standard: 1_000_000)
    treeCount = runner.options.scaled(smoke: 3_000, standard: 333_000)
    lookupCount = runner.options.scaled(smoke: 10_000, standard: 300_000)
  }

  /// Measures everything.
  func run() throws {
    try measurePeople()
    try measureTrees()
  }

  private func measurePeople() throws {
    let pando = try PandoModels(runner.makeDirectory())
    let sqlite = try SQLiteModels(runner.makeDirectory())
    let identifiers = try fill(pando, sqlite)
    let parameters = ["models": personCount, "lookups": lookupCount]
    try runner.measure(
      Workload(
        name: "get-model", operation: "get of an 8-field model, a read transaction each",
        parameters: parameters, goals: [Goal(.pando, over: .sqlite, minimum: 1.5)],
        contenders: [
          lookup(.pando) { try pando.peopleEach(identifiers) },
          lookup(.sqlite) { try sqlite.peopleEach(identifiers) },
        ]))
    try runner.measure(
      Workload(
        name: "get-model-inside",
        operation: "get of an 8-field model, one read transaction for all",
        parameters: parameters, goals: [Goal(.pando, over: .sqlite, minimum: 1)],
        contenders: [
          lookup(.pando) { try pando.people(identifiers) },
          lookup(.sqlite) { try sqlite.people(identifiers) },
        ]))
  }

  /// Stores all people in both systems.
  ///
  /// - Returns: The identifiers to look up.
  private func fill(_ pando: PandoModels, _ sqlite: SQLiteModels) throws -> [String] {
    let people = data.people(personCount)
    try pando.put(people)
    try sqlite.put(FlatPeople(people))
    try sqlite.checkpoint()
    let all = people.map(\.identifier)
    // The first walk over a map makes its pages known to the process.
    guard try pando.people(all) == sqlite.people(all) else {
      throw BenchmarkError(.wrongResult, "model: Pando and SQLite hold different people")
    }
    return data.order(lookupCount, of: personCount).map { all[$0] }
  }

  private func measureTrees() throws {
    let messages = data.messages(treeCount)
    let flat = FlatTrees(messages)
    let all = messages.map(\.identifier)
    try measurePut(messages, flat, all)
    let pando = try PandoModels(runner.makeDirectory())
    let sqlite = try SQLiteModels(runner.makeDirectory())
    try pando.put(messages)
    try sqlite.put(flat)
    try sqlite.checkpoint()
    // The first walk over a map makes its pages known to the process.
    guard try pando.trees(all) == sqlite.trees(all) else {
      throw BenchmarkError(.wrongResult, "model: Pando and SQLite hold different trees")
    }
    try measureGet(pando, sqlite, data.order(lookupCount, of: treeCount).map { all[$0] })
  }

  private func measurePut(
    _ messages: [Message], _ flat: FlatTrees, _ identifiers: [String]
  ) throws {
    let pando = Workload.Contender(system: .pando) {
      let pando = try PandoModels(runner.makeDirectory())
      return try .time(treeCount) {
        try pando.put(messages)
      } thenChecksum: {
        try pando.trees(identifiers, isThorough: true)
      }
    }
    let sqlite = Workload.Contender(system: .sqlite) {
      let sqlite = try SQLiteModels(runner.makeDirectory())
      return try .time(treeCount) {
        try sqlite.put(flat)
      } thenChecksum: {
        try sqlite.trees(identifiers, isThorough: true)
      }
    }
    try runner.measure(
      Workload(
        name: "put-tree", operation: "put of a new 3-node tree, one durable transaction for all",
        parameters: ["trees": treeCount], goals: [Goal(.pando, over: .sqlite, minimum: 1)],
        contenders: [pando, sqlite]))
  }

  private func measureGet(
    _ pando: PandoModels, _ sqlite: SQLiteModels, _ identifiers: [String]
  ) throws {
    let parameters = ["trees": treeCount, "lookups": lookupCount]
    try runner.measure(
      Workload(
        name: "get-tree", operation: "get of a 3-node tree, a read transaction each",
        parameters: parameters, goals: [Goal(.pando, over: .sqlite, minimum: 1.5)],
        contenders: [
          lookup(.pando) { try pando.treesEach(identifiers) },
          lookup(.sqlite) { try sqlite.treesEach(identifiers) },
        ]))
    try runner.measure(
      Workload(
        name: "get-tree-inside", operation: "get of a 3-node tree, one read transaction for all",
        parameters: parameters, goals: [Goal(.pando, over: .sqlite, minimum: 1.5)],
        contenders: [
          lookup(.pando) { try pando.trees(identifiers) },
          lookup(.sqlite) { try sqlite.trees(identifiers) },
        ]))
  }

  private func lookup(
    _ system: System, _ body: @escaping () throws -> UInt64
  ) -> Workload.Contender {
    Workload.Contender(system: system) { try .time(lookupCount, body) }
  }
}
