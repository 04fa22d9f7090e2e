import Pando

/// Models and trees: the whole store beside SQLite with the same guarantees.
struct ModelSuite {
  let runner: Runner
  let data: ModelData
  let durability: Durability

  init(_ runner: Runner) {
    self.runner = runner
    data = ModelData(seed: runner.options.seed)
    durability = runner.options.durability()
  }

  /// Measures everything.
  func run() throws {
    try measurePeople()
    try measureTrees()
    try measureDiscussions()
    try measureUnchanged()
    try measureSharedChild()
  }

  // MARK: One model

  private func measurePeople() throws {
    let count = runner.options.scaled(smoke: 5_000, standard: 1_000_000)
    let lookupCount = runner.options.scaled(smoke: 5_000, standard: 200_000)
    let people = data.people(count)
    let order = data.order(lookupCount, of: count)
    let identifiers = order.map { people[$0].identifier }
    try measurePutPeople(
      Array(people.prefix(runner.options.scaled(smoke: 5_000, standard: 300_000))))
    let pando = try runner.people(.pando, people, durability)
    let sqlite = try runner.people(.sqlite, people, durability)
    let reading = Reading(
      runner: runner, pando: pando, sqlite: sqlite, identifiers: identifiers,
      parameters: ["models": count, "operations": lookupCount])
    try reading.measure(
      "get-model", "get of an 8-field model, a read transaction each", Person.self, each: true,
      goal: 1.5, modelGoal: 3, [reading.contender(.pandoModel, DeclaredPerson.self, each: true)])
    try reading.measure(
      "get-model-inside", "get of an 8-field model, one read transaction for all", Person.self,
      each: false, goal: 1, modelGoal: 2,
      [reading.contender(.pandoModel, DeclaredPerson.self, each: false)])
    try reading.measure(
      "get-projection-card", "get of it as a projection with 3 of its fields", PersonCard.self,
      each: false)
    try reading.measure(
      "get-projection-contact", "get of it as another projection", PersonContact.self, each: false)
  }

  private func measurePutPeople(_ people: [Person]) throws {
    let flat = FlatPeople(people)
    let declaredPeople = people.map { DeclaredPerson($0) }
    let identifiers = people.map(\.identifier)
    try runner.measure(
      Workload(
        name: "put-model", operation: "put of a new 8-field model, one commit for all",
        parameters: ["models": people.count], durability: durability,
        contenders: [
          pando(people.count) { pando, latencies in
            try pando.put(people, latencies)
          } checksum: { pando in
            try pando.get(
              Person.self, identifiers, each: false, ModelChecksum(isThorough: true))
          },
          pando(people.count, .pandoModel) { pando, latencies in
            try pando.put(declaredPeople, latencies)
          } checksum: { pando in
            try pando.get(
              DeclaredPerson.self, identifiers, each: false, ModelChecksum(isThorough: true))
          },
          sqlite(people.count) { sqlite, latencies in
            try sqlite.put(flat.rows[...], perCommit: flat.count, latencies)
          } checksum: { sqlite in
            try sqlite.get(
              Person.self, identifiers, each: false, ModelChecksum(isThorough: true))
          },
        ]))
  }

  // MARK: Trees of 3 nodes

  private func measureTrees() throws {
    let count = runner.options.scaled(smoke: 2_000, standard: 333_000)
    let lookupCount = runner.options.scaled(smoke: 2_000, standard: 150_000)
    let messages = data.messages(count)
    let flat = FlatTrees(messages)
    let new = Array(messages.prefix(runner.options.scaled(smoke: 2_000, standard: 100_000)))
    let flatNew = FlatTrees(new)
    try measurePut(
      "put-tree", "put of a new 3-node tree, one commit for all", new,
      new.map { DeclaredMessage($0) }, goal: 1
    ) { try $0.insert(flatNew, $1) }
    let pando = try runner.fixture("trees", of: .pando) { directory in
      try PandoModels(directory, durability).put(messages)
    }
    let sqlite = try runner.fixture("trees", of: .sqlite) { directory in
      let models = try SQLiteModels(directory, durability)
      try models.insert(flat, nil)
      try models.settle()
    }
    let reading = Reading(
      runner: runner, pando: pando, sqlite: sqlite,
      identifiers: data.order(lookupCount, of: count).map { messages[$0].identifier },
      parameters: ["trees": count, "operations": lookupCount])
    try reading.measure(
      "get-tree", "get of a 3-node tree, a read transaction each", Message.self, each: true,
      goal: 1.5, modelGoal: 3, [reading.contender(.pandoModel, DeclaredMessage.self, each: true)])
    try reading.measure(
      "get-tree-inside", "get of a 3-node tree, one read transaction for all", Message.self,
      each: false, goal: 1.5, others: [.pandoBlob: 1 / 1.5], modelGoal: 2,
      [
        reading.contender(.pandoModel, DeclaredMessage.self, each: false),
        try blobs(messages, reading.identifiers),
      ])
  }

  /// The same trees as one node each: the same bytes and the same coder, without normalization.
  private func blobs(
    _ messages: [Message], _ identifiers: [String]
  ) throws -> Workload.Contender {
    let directory = try runner.fixture("blobs", of: .pando) { directory in
      try PandoModels(directory, durability).put(messages.map { MessageBlob($0) })
    }
    return Workload.Contender(.pandoBlob) {
      let models = try PandoModels(directory, durability)
      let first = Array(identifiers.prefix(max(1, identifiers.count / 5)))
      _ = try models.get(MessageBlob.self, first, each: false)
      return try .time(
        identifiers.count, stride: 4, in: directory,
        { latencies in
          try models.get(
            MessageBlob.self, identifiers, each: false, ModelChecksum(isThorough: false),
            latencies)
        })
    }
  }

  // MARK: Trees of 100 nodes

  private func measureDiscussions() throws {
    let count = runner.options.scaled(smoke: 50, standard: 3_000)
    let discussions = data.discussions(count)
    let flat = discussions.map { FlatDiscussion($0) }
    try measurePut(
      "put-tree-100", "put of a new 100-node tree, one commit for all", discussions,
      discussions.map { DeclaredDiscussion($0) }, stride: 1
    ) { try $0.insert(flat, $1) }
    let pando = try runner.fixture("discussions", of: .pando) { directory in
      try PandoModels(directory, durability).put(discussions)
    }
    let sqlite = try runner.fixture("discussions", of: .sqlite) { directory in
      let models = try SQLiteModels(directory, durability)
      try models.insert(flat, nil)
      try models.settle()
    }
    let reading = Reading(
      runner: runner, pando: pando, sqlite: sqlite,
      identifiers: data.order(count, of: count).map { discussions[$0].identifier },
      parameters: ["trees": count, "operations": count])
    try reading.measure(
      "get-tree-100", "get of a 100-node tree, one read transaction for all", Discussion.self,
      each: false, stride: 1,
      [reading.contender(.pandoModel, DeclaredDiscussion.self, each: false, stride: 1)])
  }

  /// Measures the put of new trees into an empty database.
  private func measurePut<
    M: Model & Codable & SQLiteReadable, Declared: Model & FieldCodable & Checksummed
  >(
    _ name: String, _ operation: String, _ models: [M], _ declaredModels: [Declared],
    stride: Int = 4,
    goal: Double? = nil,
    _ insert: @escaping (SQLiteModels, Latencies) throws -> Void
  ) throws {
    let identifiers = models.compactMap(\.modelIdentifier)
    try runner.measure(
      Workload(
        name: name, operation: operation, parameters: ["trees": models.count],
        durability: durability, goals: goal.map { [.sqlite: $0] } ?? [:],
        modelGoals: goal.map { [.sqlite: $0] } ?? [:],
        contenders: [
          pando(models.count, stride: stride) { pando, latencies in
            try pando.put(models, latencies)
          } checksum: { pando in
            try pando.get(M.self, identifiers, each: false, ModelChecksum(isThorough: true))
          },
          pando(models.count, .pandoModel, stride: stride) { pando, latencies in
            try pando.put(declaredModels, latencies)
          } checksum: { pando in
            try pando.get(Declared.self, identifiers, each: false, ModelChecksum(isThorough: true))
          },
          sqlite(models.count, stride: stride, insert) { sqlite in
            try sqlite.get(M.self, identifiers, each: false, ModelChecksum(isThorough: true))
          },
        ]))
  }
}

extension ModelSuite {
  /// Pando's part of a workload that writes into an empty database.
  func pando(
    _ operationCount: Int, _ system: System = .pando, stride: Int = 4,
    prepare: @escaping (PandoModels) throws -> Void = { _ in },
    _ body: @escaping (PandoModels, Latencies) throws -> Void,
    checksum: @escaping (PandoModels) throws -> UInt64
  ) -> Workload.Contender {
    Workload.Contender(system) {
      let directory = try runner.makeDirectory()
      let pando = try PandoModels(directory, durability)
      try prepare(pando)
      return try .time(
        operationCount, stride: stride, in: directory,
        { latencies in
          try body(pando, latencies)
          return 0
        }, checksum: { try checksum(pando) })
    }
  }

  /// SQLite's part of a workload that writes into an empty database.
  func sqlite(
    _ operationCount: Int, stride: Int = 4,
    prepare: @escaping (SQLiteModels) throws -> Void = { _ in },
    _ body: @escaping (SQLiteModels, Latencies) throws -> Void,
    checksum: @escaping (SQLiteModels) throws -> UInt64
  ) -> Workload.Contender {
    Workload.Contender(.sqlite) {
      let directory = try runner.makeDirectory()
      let sqlite = try SQLiteModels(directory, durability)
      try prepare(sqlite)
      return try .time(
        operationCount, stride: stride, in: directory,
        { latencies in
          try body(sqlite, latencies)
          return 0
        }, settle: { try sqlite.settle() }, checksum: { try checksum(sqlite) })
    }
  }
}
