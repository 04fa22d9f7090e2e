import Pando

/// Plain keys and values: what the module `PandoLMDB` costs beside plain C, and how both compare
/// with SQLite and RocksDB.
struct KeyValueSuite {
  let runner: Runner
  let data: KeyValueData
  let durability: Durability
  /// Keys that are read, in random order.
  let lookups: KeyValueKeys
  let lookupCount: Int

  init(_ runner: Runner) {
    self.runner = runner
    let options = runner.options
    let count = options.scaled(smoke: 10_000, standard: 1_000_000, large: 10_000_000)
    data = KeyValueData(count: count, seed: options.seed)
    durability = options.durability()
    lookupCount = options.scaled(smoke: 10_000, standard: 500_000, large: 5_000_000)
    lookups = data.keys(of: data.randomOrder.prefix(lookupCount))
  }

  /// Measures everything.
  func run() throws {
    try measureFilling()
    try measureSynchronousFilling()
    try measureReading()
    try measureReadingWhileWriting()
    try measureOverwriting()
  }

  private func measureFilling() throws {
    for (name, what, order) in [
      ("fillseq", "in key order", data.sortedOrder),
      ("fillrandom", "in random order", data.randomOrder),
    ] {
      try runner.measure(
        workload(name, "put of a new row \(what), all in one commit") { system in
          let directory = try runner.makeDirectory()
          return try with(system, directory) { database, session in
            try .time(
              data.count, stride: 16, in: directory,
              { try write(session, data.rows, order, $0) },
              settle: { try database.settle() }, checksum: { try session.hash() })
          }
        })
    }
  }

  private func measureSynchronousFilling() throws {
    let count = runner.options.scaled(smoke: 32, standard: 2_048)
    let order = Array(data.randomOrder.prefix(count))
    try runner.measure(
      workload(
        "fillsync", "put of a new row in random order, a commit each", goals: [.lmdb: 0.9],
        ["rows": count]
      ) { system in
        let directory = try runner.makeDirectory()
        return try with(system, directory) { database, session in
          try .time(
            count, stride: 1, in: directory,
            { latencies in
              try session.write(data.rows, order, rowsPerCommit: 1, latencies)
              return 0
            }, settle: { try database.settle() }, checksum: { try session.hash() })
        }
      })
  }

  private func measureReading() throws {
    let missing = data.missingKeys(lookupCount)
    let seeks = missing.prefix(lookupCount / 5)
    try measureReading("readrandom", "get in random order, one read transaction for all") {
      try $0.read(lookups, each: false, $1)
    }
    try measureReading("readrandom-each", "get in random order, a read transaction each") {
      try $0.read(lookups, each: true, $1)
    }
    try measureReading("readmissing", "get of an absent key, one read transaction for all") {
      try $0.read(missing, each: false, $1)
    }
    for (name, isReversed) in [("readseq", false), ("readreverse", true)] {
      let direction = isReversed ? "backwards" : "in key order"
      try measureReading(
        name, "walk over all keys and values \(direction), a row", count: data.count, stride: 64
      ) { try $0.walk(reversed: isReversed, $1) }
    }
    try measureReading(
      "seekrandom-10", "find the first key not below a random one, and read 10 rows",
      count: seeks.count, stride: 2
    ) { try $0.seek(seeks, rowCount: 10, $1) }
  }

  private func measureReading(
    _ name: String, _ operation: String, count: Int? = nil, stride: Int = 8,
    _ read: @escaping (any KeyValueSession, Latencies?) throws -> KeyValueSeen
  ) throws {
    try runner.measure(
      workload(name, operation, ["rows": data.count, "operations": count ?? lookupCount]) {
        system in
        let directory = try filled(system)
        return try with(system, directory) { _, session in
          // The first walk makes the pages known to the process, and fills caches.
          _ = try session.walk(reversed: false, nil)
          return try .time(
            count ?? lookupCount, stride: stride, in: directory,
            { try read(session, $0).combined })
        }
      })
  }

  private func measureOverwriting() throws {
    let order = Array(data.randomOrder.prefix(overwrittenCount))
    try runner.measure(
      workload(
        "overwrite", "put of other values under present keys in random order, one commit",
        ["rows": data.count, "operations": order.count]
      ) { system in
        let directory = try filled(system)
        return try with(system, directory) { database, session in
          try session.write(data.rows, order, rowsPerCommit: order.count, nil)
          try database.settle()
          return try .time(
            order.count, stride: 16, in: directory,
            { try write(session, data.otherRows, order, $0) },
            settle: { try database.settle() }, checksum: { try session.hash() })
        }
      })
  }

  /// How many rows are written again.
  var overwrittenCount: Int { data.count / 5 }

  /// A database with all rows.
  func filled(_ system: System) throws -> WorkingDirectory {
    try runner.fixture("kv", of: system) { directory in
      try with(system, directory) { database, session in
        try session.write(data.rows, data.randomOrder, rowsPerCommit: data.count, nil)
        try database.settle()
      }
    }
  }

  /// Opens a database for the duration of `body`.
  func with<Result>(
    _ system: System, _ directory: WorkingDirectory,
    _ body: (any KeyValueDatabase, any KeyValueSession) throws -> Result
  ) throws -> Result {
    let database = try KeyValueSystems.open(system, directory, durability)
    defer { database.close() }
    return try body(database, try database.makeSession())
  }

  private func write(
    _ session: any KeyValueSession, _ rows: KeyValueRows, _ order: [UInt32],
    _ latencies: Latencies
  ) throws -> UInt64 {
    try session.write(rows, order, rowsPerCommit: order.count, latencies)
    return 0
  }

  /// A workload for all systems, with the goals of the suite.
  func workload(
    _ name: String, _ operation: String, goals: [System: Double] = [.lmdb: 0.9, .sqlite: 1],
    _ parameters: [String: Int]? = nil, _ run: @escaping (System) throws -> Measurement
  ) -> Workload {
    var parameters = parameters ?? ["rows": data.count]
    parameters["keyBytes"] = KeyValueData.keyByteCount
    parameters["valueBytes"] = KeyValueData.valueByteCount
    return Workload(
      name: name, operation: operation, parameters: parameters, durability: durability,
      goals: goals,
      contenders: KeyValueSystems.all.map { system in
        Workload.Contender(system) { try run(system) }
      })
  }
}
