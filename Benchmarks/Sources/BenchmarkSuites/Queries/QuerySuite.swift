import Pando

/// Queries over entities of one type, beside SQLite with the same indexes.
///
/// Each question is a read transaction, and its answer an array of structs.
struct QuerySuite {
  let runner: Runner

  init(_ runner: Runner) { self.runner = runner }

  /// Measures everything.
  func run() throws {
    let sizes = [1_000, 10_000, 100_000, 1_000_000]
      .prefix(runner.options.scaled(smoke: 2, standard: 4))
    for size in sizes {
      try measure(size)
      try measureIssues(size)
      try measureRenaming(size)
      try measureTotals(size)
      try measureWords(size)
    }
    try measureOrders()
  }

  private func measure(_ size: Int) throws {
    let library = Library(seed: runner.options.seed, count: size)
    let stores = Stores(
      pando: try runner.fixture("books-\(size)", of: .pando) { try PandoBooks($0).fill(library) },
      sqlite: try runner.fixture("books-\(size)", of: .sqlite) { try SQLiteBooks($0).fill(library) }
    )
    let count = runner.options.scaled(smoke: 50, standard: 20_000)
    let few = runner.options.scaled(smoke: 20, standard: 2_000)
    try measure(
      "identifier", "query by identifier", stores, size, goal: 1,
      library.numbers(count, below: size).map { .book("b\($0)") })
    try measure(
      "equality", "query of the 20 or so with a value of an indexed field", stores, size, goal: 1.3,
      library.numbers(few, below: size / Library.booksPerShelf).map { .shelf($0) })
    try measure(
      "range", "query of 50 in a range of an indexed field", stores, size,
      library.numbers(few, below: size - Library.booksPerRange)
        .map { .years($0..<($0 + Library.booksPerRange)) })
    try measure(
      "order-limit", "query of the first 20 by an indexed field, of which half match", stores, size,
      goal: 1.1,
      Array(repeating: .lentByTitle(limit: 20), count: few))
    let scans = max(2, min(few, 4_000_000 / size) / runner.options.scaled(smoke: 10, standard: 1))
    try measure(
      "scan", "query of one in a thousand by a field without index", stores, size, goal: 1.3,
      Array(repeating: .rated(above: 998), count: scans))
  }

  /// Behind SQLite by no more than a half, unless the goal is higher.
  private func measure(
    _ name: String, _ operation: String, _ stores: Stores, _ size: Int, goal: Double = 1 / 1.5,
    _ queries: [BookQuery]
  ) throws {
    let warmUp = Array(queries.prefix(max(1, queries.count / 5)))
    try runner.measure(
      Workload(
        name: "\(name)-\(size)", operation: operation + ", a read transaction each",
        parameters: ["entities": size, "operations": queries.count], goals: [.sqlite: goal],
        series: Workload.Series(name: name, unit: "entities", size: size),
        contenders: [
          Workload.Contender(.pando) {
            let books = try PandoBooks(stores.pando)
            _ = try books.ask(warmUp, Latencies(stride: 1))
            return try .time(queries.count, in: stores.pando, { try books.ask(queries, $0) })
          },
          Workload.Contender(.sqlite) {
            let books = try SQLiteBooks(stores.sqlite)
            _ = try books.ask(warmUp, Latencies(stride: 1))
            return try .time(queries.count, in: stores.sqlite, { try books.ask(queries, $0) })
          },
        ]))
  }

  /// One library in all systems.
  private struct Stores {
    let pando: WorkingDirectory
    let sqlite: WorkingDirectory
  }
}
