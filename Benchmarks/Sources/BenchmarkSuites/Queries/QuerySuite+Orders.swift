import FoundationEssentials
import Pando

/// Answers in groups, of records without an index.
extension QuerySuite {
  func measureOrders() throws {
    let size = runner.options.scaled(smoke: 500, standard: 50_000)
    let directory = try runner.fixture("orders-\(size)", of: .pando) {
      let models = try PandoModels($0, .unsynchronized)
      try models.put(Shop(seed: runner.options.seed, count: size).orders)
    }
    func measure<Answer>(
      _ name: String, _ question: Question<Order, Answer>, _ value: @escaping (Answer) -> Int
    ) throws {
      let count = runner.options.scaled(smoke: 2, standard: 50)
      try runner.measure(
        Workload(
          name: "\(name)-\(size)", operation: "answer by \(size) records without an index: \(name)",
          parameters: ["entities": size, "operations": count],
          contenders: [
            Workload.Contender(.pando) {
              let models = try PandoModels(directory, .unsynchronized)
              let store = models.store
              _ = try store.answer(question, to: .all)
              return try .time(count, in: directory) { latencies in
                var checksum: UInt64 = 0
                for _ in 0..<count {
                  let answer = try latencies.time { try store.answer(question, to: .all) }
                  checksum = checksum &* 31 &+ UInt64(bitPattern: Int64(value(answer)))
                }
                // The models close the store when they go.
                return withExtendedLifetime(models) { checksum }
              }
            }
          ]))
    }
    try measure("cents-by-day", .sum(\.cents).grouped(by: \.day)) { $0.values.reduce(0, +) }
    try measure("revenue-by-day", .sum(\.total).grouped(by: \.day), \.count)
    try measure(
      "revenue-by-date", .sum(\.total).grouped(by: .date(\.created, .day, in: .gmt)), \.count)
    try measure(
      "top-products",
      .sum(.each(\.lines, \.quantity)).grouped(by: .each(\.lines, \.product)).top(10)
    ) { $0.first?.value ?? 0 }
    try measure("top-products-by-orders", .count.grouped(by: .each(\.lines, \.product)).top(10)) {
      $0.first?.value ?? 0
    }
    try measure("median-cents", .median(\.cents)) { $0 ?? 0 }
    try measure("combined", .combined(.count, .sum(\.cents), .max(\.cents))) { $0.1 }
  }
}
