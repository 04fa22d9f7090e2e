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
    let people = data.people(personCount)
    let sqlite = try SQLiteModels(runner.makeDirectory())
    try sqlite.put(FlatPeople(people))
    try sqlite.checkpoint()
    let identifiers = data.order(lookupCount, of: personCount).map { people[$0].identifier }
    let work: [(name: String, operation: String, contenders: [Workload.Contender])] = [
      (
        "get-model", "get of an 8-field model, one read transaction each",
        [contender(.sqlite) { try sqlite.peopleEach(identifiers) }]
      ),
      (
        "get-model-inside", "get of an 8-field model, one read transaction for all",
        [contender(.sqlite) { try sqlite.people(identifiers) }]
      ),
    ]
    for work in work {
      try runner.measure(
        Workload(
          name: work.name, operation: work.operation,
          parameters: ["models": personCount, "lookups": lookupCount], goals: [],
          contenders: work.contenders))
    }
  }

  private func measureTrees() throws {
    let messages = data.messages(treeCount)
    let flat = FlatTrees(messages)
    let inOrder = messages.map(\.identifier)
    try runner.measure(
      Workload(
        name: "put-tree", operation: "put of a new 3-node tree, one durable transaction for all",
        parameters: ["trees": treeCount], goals: [],
        contenders: [
          Workload.Contender(system: .sqlite) {
            let sqlite = try SQLiteModels(runner.makeDirectory())
            return try .time(treeCount) {
              try sqlite.put(flat)
            } thenChecksum: {
              try sqlite.treesThoroughly(inOrder)
            }
          }
        ]))
    let sqlite = try SQLiteModels(runner.makeDirectory())
    try sqlite.put(flat)
    try sqlite.checkpoint()
    let identifiers = data.order(lookupCount, of: treeCount).map { inOrder[$0] }
    try runner.measure(
      Workload(
        name: "get-tree", operation: "get of a 3-node tree, one read transaction each",
        parameters: ["trees": treeCount, "lookups": lookupCount], goals: [],
        contenders: [contender(.sqlite) { try sqlite.treesEach(identifiers) }]))
    try runner.measure(
      Workload(
        name: "get-tree-inside", operation: "get of a 3-node tree, one read transaction for all",
        parameters: ["trees": treeCount, "lookups": lookupCount], goals: [],
        contenders: [contender(.sqlite) { try sqlite.trees(identifiers) }]))
  }

  private func contender(
    _ system: System, _ body: @escaping () throws -> UInt64
  ) -> Workload.Contender {
    Workload.Contender(system: system) { try .time(lookupCount, body) }
  }
}
