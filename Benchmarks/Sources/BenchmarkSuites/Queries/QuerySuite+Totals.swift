import Pando

/// Sums, counts and pages of any range by an index with totals, and what the totals cost a write.
extension QuerySuite {
  func measureTotals(_ size: Int) throws {
    let directory = try runner.fixture("sales-\(size)", of: .pando) {
      try Self.fill(TotalledSale.self, $0, size)
    }
    var random = SeededGenerator(seed: runner.options.seed)
    let count = runner.options.scaled(smoke: 50, standard: 5_000)
    let ranges = (0..<count).map { _ in
      let days = [Int.random(in: 0..<size, using: &random), .random(in: 0..<size, using: &random)]
      return (days.min() ?? 0)..<(days.max() ?? 0)
    }
    func within(_ days: Range<Int>) -> Query<TotalledSale> {
      Query(filter: \.day >= days.lowerBound && \.day < days.upperBound)
    }
    let questions: [(name: String, text: String, ask: (ModelStore, Range<Int>) throws -> Int)] = [
      ("sum-range", "sum", { try $0.answer(.sum(\.total), to: within($1)) }),
      ("count-range", "count", { try $0.answer(.count, to: within($1)) }),
      (
        "offset", "page of 20 behind an offset",
        { store, days in
          let page = Query<TotalledSale>(
            order: [.ascending(\.day)], offset: days.lowerBound, limit: 20)
          return try store.find(page).entities.reduce(0) { $0 + $1.day }
        }
      ),
    ]
    try runner.measure(
      questions.map { question in
        Workload(
          name: "\(question.name)-\(size)",
          operation: "\(question.text) by an index with totals, of a random range",
          parameters: ["entities": size, "operations": count],
          series: Workload.Series(name: question.name, unit: "entities", size: size),
          contenders: [
            Workload.Contender(.pando) {
              let models = try PandoModels(directory, .unsynchronized)
              return try .time(
                count, in: directory,
                { latencies in
                  var sum: UInt64 = 0
                  for range in ranges {
                    sum &+= UInt64(try latencies.time { try question.ask(models.store, range) })
                  }
                  return sum
                })
            }
          ])
      })
    try measureTotalledWrites(size)
  }

  /// The same writes with a plain index and with one that keeps totals, in turn.
  private func measureTotalledWrites(_ size: Int) throws {
    for batch in [1, 1_000] {
      let count = runner.options.scaled(smoke: 20, standard: batch == 1 ? 5_000 : 50)
      try runner.measure([
        try writing(PlainSale.self, "plain", size, batch, count),
        try writing(TotalledSale.self, "totals", size, batch, count),
      ])
      runner.compare(
        "write-totals-\(batch)-\(size)", with: "write-plain-\(batch)-\(size)",
        "time of a commit of \(batch) changed entities: index with totals : plain index, \(size)",
        goal: .atMost(1.3))
    }
  }

  private func writing<S: Sale>(
    _ type: S.Type, _ name: String, _ size: Int, _ batch: Int, _ count: Int
  ) throws -> Workload {
    let seed = runner.options.seed
    return Workload(
      name: "write-\(name)-\(batch)-\(size)",
      operation: "commit of \(batch) entities with another day and number, \(name)",
      parameters: ["entities": size, "operations": count], durability: .unsynchronized,
      contenders: [
        Workload.Contender(.pando) {
          let directory = try runner.makeDirectory()
          try Self.fill(S.self, directory, size)
          let models = try PandoModels(directory, .unsynchronized)
          var random = SeededGenerator(seed: seed)
          return try .time(
            count, in: directory,
            { latencies in
              for _ in 0..<count {
                let sales = (0..<batch).map { _ in
                  S(
                    number: .random(in: 0..<size, using: &random),
                    day: .random(in: 0..<size, using: &random),
                    total: .random(in: 0..<100_000, using: &random))
                }
                try latencies.time {
                  try models.store.write { transaction in
                    for sale in sales { try transaction.set(sale) }
                  }
                }
              }
              return 0
            })
        }
      ])
  }

  private static func fill<S: Sale>(_ type: S.Type, _ directory: WorkingDirectory, _ size: Int)
    throws
  {
    let models = try PandoModels(directory, .unsynchronized)
    try models.store.addIndexes(of: [S.self])
    var random = SeededGenerator(seed: 7)
    let days = (0..<size).shuffled(using: &random)
    for start in stride(from: 0, to: size, by: 10_000) {
      try models.store.write { transaction in
        for number in start..<min(start + 10_000, size) {
          try transaction.set(S(number: number, day: days[number], total: number % 100_000))
        }
      }
    }
  }
}

private protocol Sale: Queryable, Model, Codable {
  init(number: Int, day: Int, total: Int)
}

@Model(indexed: [\.day]) private struct PlainSale: Sale {
  @Key var number: Int
  var day: Int
  var total: Int
}

@Model(indexed: [\.day], sums: [\.total]) private struct TotalledSale: Sale {
  @Key var number: Int
  var day: Int
  var total: Int
}
