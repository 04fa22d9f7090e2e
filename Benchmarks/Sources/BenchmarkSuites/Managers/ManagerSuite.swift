import Pando

/// Reads through core managers, with a memory before the disk and without.
///
/// They are compared with the same read of the same store without a manager; there is no other
/// system.
struct ManagerSuite {
  /// A way to read.
  private struct Way {
    /// The end of the names of its workloads.
    let name: String
    let text: String
    /// How many entities the memory of the manager holds; `nil` for what a container has by itself.
    let cacheLimit: Int?
    /// Whether a manager is asked, and not the store.
    var asksManager = true
  }

  private let runner: Runner
  private let library: Library
  private let ways: [Way]

  init(_ runner: Runner) {
    self.runner = runner
    let count = runner.options.scaled(smoke: 1_000, standard: 100_000)
    library = Library(seed: runner.options.seed, count: count)
    ways = [
      Way(name: "store", text: "store.read", cacheLimit: 0, asksManager: false),
      Way(name: "uncached", text: "a manager without a cache", cacheLimit: 0),
      Way(name: "cached", text: "a manager whose cache holds all", cacheLimit: count),
      Way(name: "default", text: "a manager as containers make it", cacheLimit: nil),
    ]
  }

  /// Measures everything.
  func run() throws {
    let (count, books) = (library.books.count, library.books)
    let gets = library.numbers(runner.options.scaled(smoke: 500, standard: 20_000), below: count)
      .map { books[$0].id }
    // So that a manager may keep them before the clock starts.
    let known = Array(Set(gets)).sorted { $0.text < $1.text }
    try runner.measure(
      ways.map { way in
        workload("get-\(way.name)", "get by an identifier", way, gets.count) { books in
          _ = try get(known, way, books, Latencies(stride: known.count + 1))
          return try .time(gets.count, stride: 4) { try get(gets, way, books, $0) }
        }
      })
    let repetitions = runner.options.scaled(smoke: 2, standard: 1)
    try runner.measure(
      ways.filter { $0.name != "cached" }.map { way in
        workload("all-\(way.name)-\(count)", "read of all entities", way, repetitions) { books in
          try .time(repetitions) { latencies in
            way.asksManager
              ? try books.getAll(repetitions, latencies)
              : try books.readAll(repetitions, latencies)
          }
        }
      })
    try scanBesideTicker()
    runner.compare(
      "get-cached", with: "get-store", "time of a get of what is cached : store.read",
      goal: .atMost(1))
    runner.compare(
      "get-uncached", with: "get-store", "time of a get without a cache : store.read",
      goal: .atMost(2))
    runner.compare(
      "get-default", with: "get-uncached", "time of a get as containers make managers : no cache",
      goal: .atMost(1))
    runner.compare(
      "all-default-\(count)", with: "all-uncached-\(count)",
      "time of all() as containers make managers : no cache", goal: .atMost(1.05))
  }

  /// Measures how late a task wakes while other tasks scan the store.
  private func scanBesideTicker() throws {
    let count = library.books.count
    let scans = ManagedBooks.Scan.allCases
    func name(_ scan: ManagedBooks.Scan) -> String { "ticker-\(scan.rawValue)-\(count)" }
    try runner.measure(
      scans.map { scan in
        workload(
          name(scan), "lateness of a task that sleeps 5 ms beside four scans of all entities",
          Way(name: scan.rawValue, text: scan.text, cacheLimit: 0), ManagedBooks.scanCount
        ) { books in
          try .time(ManagedBooks.scanCount) { try books.scan(scan, $0) }
        }
      })
    for scan in scans {
      guard let entry = runner.entry(.pando, in: name(scan)) else { continue }
      runner.add(
        Comparison(
          name: "manager/\(name(scan))/longest-wait",
          title: "manager, longest wait of a task beside four scans, by \(scan.text)",
          value: Double(entry.latencies.maximum) / 1e6, unit: "ms",
          goal: scan == .blocking ? nil : .atMost(20)))
    }
  }

  private func get(
    _ identifiers: [EntityIdentifier<Book>], _ way: Way, _ books: ManagedBooks,
    _ latencies: Latencies
  ) throws -> UInt64 {
    way.asksManager
      ? try books.get(identifiers, latencies) : try books.read(identifiers, latencies)
  }

  private func workload(
    _ name: String, _ operation: String, _ way: Way, _ operationCount: Int,
    _ run: @escaping (ManagedBooks) throws -> Measurement
  ) -> Workload {
    Workload(
      name: name, operation: "\(operation), by \(way.text)",
      parameters: ["entities": library.books.count, "operations": operationCount],
      contenders: [
        Workload.Contender(.pando) {
          let directory = try runner.fixture("books", of: .pando) { directory in
            try PandoBooks(directory).fill(library)
          }
          return try run(ManagedBooks(directory, cacheLimit: way.cacheLimit))
        }
      ])
  }
}
