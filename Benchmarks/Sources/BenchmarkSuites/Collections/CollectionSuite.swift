import CPeerSQLite
import Pando

/// Ordered lists of up to a million elements.
///
/// Each change is a commit, without a flush unless one is
/// asked for: what is measured is the list.
struct CollectionSuite {
  private let runner: Runner
  private let durability: Durability

  init(_ runner: Runner) {
    self.runner = runner
    durability = runner.options.durability(default: .unsynchronized)
  }

  /// Measures everything.
  func run() throws {
    let sizes = [1_000, 10_000, 100_000, 1_000_000]
      .prefix(runner.options.scaled(smoke: 2, standard: 4))
    for size in sizes {
      let count = runner.options.scaled(smoke: 20, standard: 300)
      let list = ItemList(seed: runner.options.seed, count: size, newCount: count)
      let lists = try makeLists(list)
      let middle = list.randomIndexes(count)
      try measureInserts(
        "append", "append of an element", lists, Array(repeating: -1, count: count))
      try measureInserts(
        "insert-0", "insert of an element at 0", lists, Array(repeating: 0, count: count))
      try measureInserts("insert-middle", "insert of an element in the middle", lists, middle)
      try measureRemoves(lists, middle)
      try measurePages(lists)
    }
    for name in ["append", "insert-0", "insert-middle", "remove"] { compareGrowth(name) }
  }

  private func makeLists(_ list: ItemList) throws -> Lists {
    let size = list.items.count
    return Lists(
      list: list,
      pando: try runner.fixture("list-\(size)", of: .pando) { directory in
        try PandoModels(directory, durability).fill(list)
      },
      sqlite: try runner.fixture("list-\(size)", of: .sqlite) { directory in
        try SQLiteModels(directory, durability).fill(list)
      })
  }

  private func measureInserts(
    _ name: String, _ operation: String, _ lists: Lists, _ indexes: [Int]
  ) throws {
    let new = lists.list.newItems
    try runner.measure(
      workload(
        name, operation + ", a commit each", lists, indexes.count,
        [
          Workload.Contender(.pando) {
            let pando = try PandoModels(lists.pando, durability)
            defer { try? pando.delete(new) }
            return try .time(
              indexes.count, in: lists.pando,
              { latencies in
                try pando.insertEach(new, at: indexes, latencies)
                return 0
              }, checksum: { try pando.pages(starts: lists.samples) })
          },
          Workload.Contender(.sqlite) {
            let sqlite = try SQLiteModels(lists.sqlite, durability)
            defer { try? sqlite.delete(new) }
            let flat = FlatItems(new)
            return try .time(
              indexes.count, in: lists.sqlite,
              { latencies in
                try sqlite.insertEach(flat, at: indexes, latencies)
                return 0
              }, settle: { try sqlite.settle() },
              checksum: { try sqlite.pages(starts: lists.samples) })
          },
        ]))
  }

  /// Elements are inserted, and removed in the opposite order, so that the list is what it was.
  private func measureRemoves(_ lists: Lists, _ indexes: [Int]) throws {
    let new = lists.list.newItems
    let reversed = Array(indexes.reversed())
    try runner.measure(
      workload(
        "remove", "remove of an element in the middle, a commit each", lists, indexes.count,
        [
          Workload.Contender(.pando) {
            let pando = try PandoModels(lists.pando, durability)
            defer { try? pando.delete(new) }
            try pando.insertEach(new, at: indexes, Latencies(stride: 1))
            return try .time(
              indexes.count, in: lists.pando,
              { latencies in
                try pando.removeEach(at: reversed, latencies)
                return 0
              }, checksum: { try pando.pages(starts: lists.samples) })
          },
          Workload.Contender(.sqlite) {
            let sqlite = try SQLiteModels(lists.sqlite, durability)
            defer { try? sqlite.delete(new) }
            try sqlite.insertEach(FlatItems(new), at: indexes, Latencies(stride: 1))
            return try .time(
              indexes.count, in: lists.sqlite,
              { latencies in
                try sqlite.removeEach(at: reversed, latencies)
                return 0
              }, settle: { try sqlite.settle() },
              checksum: { try sqlite.pages(starts: lists.samples) })
          },
        ]))
  }

  private func measurePages(_ lists: Lists) throws {
    let starts = lists.list.randomIndexes(runner.options.scaled(smoke: 50, standard: 250))
    try runner.measure(
      workload(
        "page-50", "read of 50 elements in the middle, a read transaction each", lists,
        starts.count,
        [
          Workload.Contender(.pando) {
            let pando = try PandoModels(lists.pando, durability)
            _ = try pando.pages(starts: lists.samples)
            return try .time(
              starts.count, in: lists.pando, { try pando.pages(starts: starts, $0) })
          },
          Workload.Contender(.sqlite) {
            let sqlite = try SQLiteModels(lists.sqlite, durability)
            _ = try sqlite.pages(starts: lists.samples)
            return try .time(
              starts.count, in: lists.sqlite, { try sqlite.pages(starts: starts, $0) })
          },
        ]))
  }

  private func workload(
    _ name: String, _ operation: String, _ lists: Lists, _ count: Int,
    _ contenders: [Workload.Contender]
  ) -> Workload {
    let size = lists.list.items.count
    return Workload(
      name: "\(name)-\(size)", operation: operation,
      parameters: ["elements": size, "operations": count], durability: durability,
      series: Workload.Series(name: name, unit: "elements", size: size), contenders: contenders)
  }

  /// The cost of a change in a list of 100 000 in terms of one of 1 000.
  private func compareGrowth(_ name: String) {
    guard let small = runner.entry(.pando, in: "\(name)-1000"),
      let large = runner.entry(.pando, in: "\(name)-100000")
    else { return }
    runner.add(
      Comparison(
        name: "collection/\(name)/time-100000:1000",
        title: "collection \(name), Pando, time with 100 000 elements : 1 000",
        value: small.operationsPerSecond / large.operationsPerSecond, goal: .atMost(3)))
    guard let smallBytes = small.writtenByteCountPerOperation,
      let largeBytes = large.writtenByteCountPerOperation, smallBytes > 0
    else { return }
    runner.add(
      Comparison(
        name: "collection/\(name)/bytes-100000:1000",
        title: "collection \(name), Pando, bytes written with 100 000 elements : 1 000",
        value: largeBytes / smallBytes, goal: .atMost(3)))
  }
}

/// One list in all systems.
private struct Lists {
  let list: ItemList
  let pando: WorkingDirectory
  let sqlite: WorkingDirectory

  /// Where pages are read for the checksum.
  var samples: [Int] {
    let count = list.items.count
    return [0, count / 4, count / 2, count - PandoModels.pageLength]
  }
}

extension SQLiteModels {
  /// Deletes items, and so removes them from the list.
  fileprivate func delete(_ items: [Item]) throws {
    try delete(PEER_ITEM, items.map(\.identifier), nil)
    try settle()
  }
}
