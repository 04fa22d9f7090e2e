import CPeerSQLite
import Pando

/// Deletes of a child that many hold.
///
/// Required parents go with it, optional edges become nil, lists lose it. Each delete is a commit, without a flush unless one is asked for.
struct CascadeSuite {
  private let runner: Runner
  private let data: ModelData
  private let durability: Durability

  init(_ runner: Runner) {
    self.runner = runner
    data = ModelData(seed: runner.options.seed)
    durability = runner.options.durability(default: .unsynchronized)
  }

  /// Measures everything.
  func run() throws {
    let sizes = runner.options.scaled(smoke: 2, standard: 3)
    for parentCount in [1, 1_000, 100_000].prefix(sizes) {
      let childCount =
        switch parentCount {
        case 1: runner.options.scaled(smoke: 100, standard: 2_000)
        case 1_000: runner.options.scaled(smoke: 2, standard: 20)
        default: 1
        }
      try measureParents(parentCount, childCount)
    }
    for elementCount in [1_000, 100_000].prefix(sizes - 1) { try measureElements(elementCount) }
  }

  private func measureParents(_ parentCount: Int, _ childCount: Int) throws {
    let messages = (0..<parentCount * childCount).map { index in
      data.message(
        index, author: data.author(index / parentCount), image: data.image(index / parentCount))
    }
    let forest = Forest(messages: messages)
    let parameters = ["parents": parentCount, "operations": childCount]
    let authors = (0..<childCount).map { data.author($0).identifier }
    let images = (0..<childCount).map { data.image($0).identifier }
    try measure(
      "delete-required-\(parentCount)", "delete of a child that parents require", parameters,
      forest, PEER_AUTHOR, authors)
    try measure(
      "delete-optional-\(parentCount)", "delete of a child that parents hold optionally",
      parameters, forest, PEER_IMAGE, images)
  }

  private func measure(
    _ name: String, _ operation: String, _ parameters: [String: Int], _ forest: Forest,
    _ kind: peer_kind, _ identifiers: [String]
  ) throws {
    let pando = Workload.Contender(.pando) {
      let directory = try runner.makeDirectory()
      let pando = try PandoModels(directory, durability)
      try pando.put(forest.messages)
      return try .time(
        identifiers.count, in: directory,
        { latencies in
          try pando.deleteEach(identifiers, latencies)
          return 0
        }, checksum: { try forest.checksum(pando) })
    }
    let sqlite = Workload.Contender(.sqlite) {
      let directory = try runner.makeDirectory()
      let sqlite = try SQLiteModels(directory, durability)
      try sqlite.put(forest.flat, perCommit: forest.flat.count, nil)
      try sqlite.settle()
      return try .time(
        identifiers.count, in: directory,
        { latencies in
          try sqlite.delete(kind, identifiers, latencies)
          return 0
        }, settle: { try sqlite.settle() }, checksum: { try forest.checksum(sqlite) })
    }
    try runner.measure(
      Workload(
        name: name, operation: operation + ", a commit each", parameters: parameters,
        durability: durability, contenders: [pando, sqlite]))
  }

  private func measureElements(_ elementCount: Int) throws {
    let list = ItemList(seed: runner.options.seed, count: elementCount)
    let deleted = list.randomIndexes(runner.options.scaled(smoke: 10, standard: 100))
      .map { list.items[$0].identifier }
    let identifiers = Array(Set(deleted)).sorted()
    try runner.measure(
      Workload(
        name: "delete-element-\(elementCount)",
        operation: "delete of an element of a collection, a commit each",
        parameters: ["elements": elementCount, "operations": identifiers.count],
        durability: durability,
        contenders: [
          Workload.Contender(.pando) {
            let directory = try runner.makeDirectory()
            let pando = try PandoModels(directory, durability)
            try pando.fill(list)
            return try .time(
              identifiers.count, in: directory,
              { latencies in
                try pando.deleteEach(identifiers, latencies)
                return 0
              }, checksum: { try pando.pages(starts: [0, elementCount / 2]) })
          },
          Workload.Contender(.sqlite) {
            let directory = try runner.makeDirectory()
            let sqlite = try SQLiteModels(directory, durability)
            try sqlite.fill(list)
            return try .time(
              identifiers.count, in: directory,
              { latencies in
                try sqlite.delete(PEER_ITEM, identifiers, latencies)
                return 0
              }, settle: { try sqlite.settle() },
              checksum: { try sqlite.pages(starts: [0, elementCount / 2]) })
          },
        ]))
  }
}

/// Messages of which many share an author and an image.
private struct Forest {
  let messages: [Message]
  let flat: FlatTrees

  init(messages: [Message]) {
    self.messages = messages
    flat = FlatTrees(messages)
  }

  /// How many messages are left, and how many of them have an image.
  func checksum(_ pando: PandoModels) throws -> UInt64 {
    try pando.store.read { snapshot in
      var (count, withImage) = (0, 0)
      for message in messages {
        guard let left = try snapshot.get(message.identifier, as: Message.self) else { continue }
        count += 1
        withImage += left.image == nil ? 0 : 1
      }
      return UInt64(count) << 32 | UInt64(withImage)
    }
  }

  /// The same.
  func checksum(_ sqlite: SQLiteModels) throws -> UInt64 {
    var (count, withImage): (Int64, Int64) = (0, 0)
    try SQLiteModels.check(
      sqlite_models_count_messages(sqlite.models, &count, &withImage))
    return UInt64(count) << 32 | UInt64(withImage)
  }
}

extension PandoModels {
  /// Deletes nodes, each in a commit of its own.
  func deleteEach(_ identifiers: [String], _ latencies: Latencies) throws {
    for identifier in identifiers {
      try latencies.time { _ = try store.write { try $0.deleteIfPresent(identifier) != nil } }
    }
  }
}
