/// Plain keys and values: what Pando's `LMDB` module costs beside plain C.
struct KeyValueSuite {
  /// How often a run walks over the table: one walk is too short to be timed.
  private static let walkCount = 8

  /// Address space for each database; profilers can't reserve much more.
  private static let mapSizeInBytes = 8 << 30

  private let runner: Runner
  private let data: KeyValueData
  private let parameters: [String: Int]
  private let goals = [Goal(.pando, over: .plainLMDB, minimum: 0.9)]

  init(_ runner: Runner) {
    self.runner = runner
    let count = runner.options.scaled(smoke: 10_000, standard: 1_000_000)
    data = KeyValueData(count: count, seed: runner.options.seed)
    parameters = [
      "keys": count, "keyBytes": KeyValueData.keyByteCount,
      "valueBytes": KeyValueData.valueByteCount,
    ]
  }

  /// Measures everything.
  func run() throws {
    try measurePut()
    let pandoDirectory = try runner.makeDirectory()
    let plainDirectory = try runner.makeDirectory()
    let pando = try makePandoTable(pandoDirectory)
    let plain = try makePlainTable(plainDirectory)
    try pando.put(data)
    try plain.put(data)
    // The first walk over a map makes its pages known to the process.
    _ = try pando.scan()
    _ = try plain.scan()
    try measureReading(pando, plain)
    pando.close()
  }

  private func measurePut() throws {
    try runner.measure(
      workload("put", "put of all keys in random order, one durable transaction") {
        let directory = try runner.makeDirectory()
        let table = try makePandoTable(directory)
        defer { table.close() }
        return try .time(data.count) {
          try table.put(data)
        } thenChecksum: {
          try table.fingerprint()
        }
      } plain: {
        let directory = try runner.makeDirectory()
        let table = try makePlainTable(directory)
        return try .time(data.count) {
          try table.put(data)
        } thenChecksum: {
          try table.fingerprint()
        }
      })
  }

  private func measureReading(_ pando: PandoTable, _ plain: PlainTable) throws {
    try runner.measure(
      workload("get", "get in random order, one read transaction for all") {
        try .time(data.count) { try pando.get(data) }
      } plain: {
        try .time(data.count) { try plain.get(data) }
      })
    try runner.measure(
      workload("get-each", "get in random order, one read transaction each") {
        try .time(data.count) { try pando.getEach(data) }
      } plain: {
        try .time(data.count) { try plain.getEach(data) }
      })
    try runner.measure(
      workload("scan", "walk over all keys and values in key order, a row") {
        try .time(data.count * Self.walkCount) { try walked(pando.scan) }
      } plain: {
        try .time(data.count * Self.walkCount) { try walked(plain.scan) }
      })
  }

  private func workload(
    _ name: String, _ operation: String, pando: @escaping () throws -> Measurement,
    plain: @escaping () throws -> Measurement
  ) -> Workload {
    Workload(
      name: name, operation: operation, parameters: parameters, goals: goals,
      contenders: [
        Workload.Contender(system: .pando, run: pando),
        Workload.Contender(system: .plainLMDB, run: plain),
      ])
  }

  /// The common checksum of several walks, each of which must have seen every key.
  private func walked(_ scan: () throws -> (count: Int, checksum: UInt64)) throws -> UInt64 {
    let first = try scan()
    guard first.count == data.count else {
      throw BenchmarkError(.wrongResult, "a scan saw \(first.count) of \(data.count) keys")
    }
    for _ in 1..<Self.walkCount where try scan() != first {
      throw BenchmarkError(.wrongResult, "two scans of the same version differ")
    }
    return first.checksum
  }

  private func makePandoTable(_ directory: WorkingDirectory) throws -> PandoTable {
    try PandoTable(path: directory.path, mapSizeInBytes: Self.mapSizeInBytes)
  }

  private func makePlainTable(_ directory: WorkingDirectory) throws -> PlainTable {
    try PlainTable(path: directory.path, mapSizeInBytes: Self.mapSizeInBytes)
  }
}
