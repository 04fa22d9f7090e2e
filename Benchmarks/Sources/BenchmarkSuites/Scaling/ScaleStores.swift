import CPeerSQLite
import Pando

/// One forest in all systems.
struct ScaleStores {
  private let forest: ScaleForest
  private let durability: Durability
  private let pando: WorkingDirectory
  private let plain: WorkingDirectory
  private let sqlite: WorkingDirectory

  init(_ runner: Runner, _ forest: ScaleForest, _ durability: Durability) throws {
    self.forest = forest
    self.durability = durability
    let size = forest.messages.count
    pando = try runner.fixture("scale-\(size)", of: .pando) { directory in
      try PandoModels(directory, durability).put(forest.messages)
    }
    plain = try runner.fixture("scale-\(size)", of: .lmdb) { directory in
      let nodes = FlatNodes(forest.messages)
      try PeerStore(directory, durability).put(nodes.rows[...], perCommit: nodes.count, nil)
    }
    sqlite = try runner.fixture("scale-\(size)", of: .sqlite) { directory in
      let models = try SQLiteModels(directory, durability)
      let flat = FlatTrees(forest.messages)
      try models.put(flat, perCommit: flat.count, nil)
      try models.settle()
    }
  }

  /// Gets messages with their authors.
  var getting: [Workload.Contender] {
    let identifiers = forest.lookups.map(\.identifier)
    let nodes = FlatNodes(forest.lookups)
    return [
      Workload.Contender(.pando) {
        let models = try PandoModels(pando, durability)
        _ = try get(models, Array(identifiers.prefix(identifiers.count / 5)), nil)
        return try .time(
          identifiers.count, stride: 4, in: pando, { try get(models, identifiers, $0) })
      },
      Workload.Contender(.lmdb) {
        let store = try PeerStore(plain, durability)
        _ = try store.get(Array(nodes.rows.prefix(nodes.count / 5)), each: false, nil)
        return try .time(
          nodes.count, stride: 4, in: plain, { try store.get(nodes.rows, each: false, $0) })
      },
      Workload.Contender(.sqlite) {
        let models = try SQLiteModels(sqlite, durability)
        _ = try get(models, Array(identifiers.prefix(identifiers.count / 5)), nil)
        return try .time(
          identifiers.count, stride: 4, in: sqlite, { try get(models, identifiers, $0) })
      },
    ]
  }

  /// Puts messages as they are, untimed, and then as they become.
  func putting(_ before: [Message], _ after: [Message]) -> [Workload.Contender] {
    let identifiers = after.map(\.identifier)
    let (flatBefore, flatAfter) = (FlatTrees(before), FlatTrees(after))
    let (nodesBefore, nodesAfter) = (FlatNodes(before), FlatNodes(after))
    return [
      Workload.Contender(.pando) {
        let models = try PandoModels(pando, durability)
        try models.put(before)
        return try time(after.count, pando) {
          try models.put(after, $0)
        } checksum: {
          try get(models, identifiers, nil)
        }
      },
      Workload.Contender(.lmdb) {
        let store = try PeerStore(plain, durability)
        try store.put(nodesBefore.rows[...], perCommit: nodesBefore.count, nil)
        return try time(after.count, plain) {
          try store.put(nodesAfter.rows[...], perCommit: nodesAfter.count, $0)
        } checksum: {
          try store.get(nodesAfter.rows, each: false, nil)
        }
      },
      Workload.Contender(.sqlite) {
        let models = try SQLiteModels(sqlite, durability)
        try models.put(flatBefore, perCommit: flatBefore.count, nil)
        return try time(after.count, sqlite) {
          try models.put(flatAfter, perCommit: flatAfter.count, $0)
        } settle: {
          try models.settle()
        } checksum: {
          try get(models, identifiers, nil)
        }
      },
    ]
  }

  /// Puts authors as they are, untimed, and then as they become.
  var propagating: [Workload.Contender] {
    let (before, after) = (forest.authorsToChange, forest.changedAuthors)
    let (nodesBefore, nodesAfter) = (FlatNodes(before), FlatNodes(after))
    let (flatBefore, flatAfter) = (trees(before), trees(after))
    let messages = Array(forest.messages.prefix(100))
    let identifiers = messages.map(\.identifier)
    let nodes = FlatNodes(messages)
    return [
      Workload.Contender(.pando) {
        let models = try PandoModels(pando, durability)
        try models.put(before)
        return try time(after.count, pando) {
          try models.put(after, $0)
        } checksum: {
          try get(models, identifiers, nil)
        }
      },
      Workload.Contender(.lmdb) {
        let store = try PeerStore(plain, durability)
        try store.put(nodesBefore.rows[...], perCommit: nodesBefore.count, nil)
        return try time(after.count, plain) {
          try store.put(nodesAfter.rows[...], perCommit: nodesAfter.count, $0)
        } checksum: {
          try store.get(nodes.rows, each: false, nil)
        }
      },
      Workload.Contender(.sqlite) {
        let models = try SQLiteModels(sqlite, durability)
        try models.putFollowers(flatBefore, nil)
        return try time(after.count, sqlite) {
          try models.putFollowers(flatAfter, $0)
        } settle: {
          try models.settle()
        } checksum: {
          try get(models, identifiers, nil)
        }
      },
    ]
  }

  private func time(
    _ count: Int, _ directory: WorkingDirectory, _ put: (Latencies) throws -> Void,
    settle: () throws -> Void = {}, checksum: () throws -> UInt64
  ) throws -> Measurement {
    try .time(
      count, stride: 1, in: directory, threadCount: 1,
      { latencies in
        try put(latencies[0])
        return 0
      }, settle: settle, checksum: checksum)
  }

  /// Authors as parts of messages, whose other fields don't count.
  private func trees(_ authors: [Author]) -> FlatTrees {
    FlatTrees(
      authors.map { author in
        Message(
          identifier: author.identifier, text: "", sentAt: 0, likeCount: 0, author: author,
          image: nil)
      })
  }

  private func get(
    _ models: PandoModels, _ identifiers: [String], _ latencies: Latencies?
  ) throws -> UInt64 {
    let latencies = latencies ?? Latencies(stride: identifiers.count + 1)
    return try models.store.read { snapshot in
      var checksum = NumberChecksum()
      for identifier in identifiers {
        try latencies.time {
          if let message = try snapshot.get(identifier, as: Message.self) {
            checksum.add(message)
          }
        }
      }
      return checksum.value
    }
  }

  private func get(
    _ models: SQLiteModels, _ identifiers: [String], _ latencies: Latencies?
  ) throws -> UInt64 {
    var checksum = NumberChecksum()
    try models.getInside(Message.self, identifiers, latencies) { checksum.add($0) }
    return checksum.value
  }
}

/// The checksum of the store in plain C, which has one number of each node.
private struct NumberChecksum {
  private(set) var value: UInt64 = 0

  mutating func add(_ message: Message) {
    add(message.likeCount)
    add(message.author.followerCount)
  }

  private mutating func add(_ number: Int) {
    value = value &* 31 &+ UInt64(bitPattern: Int64(number))
  }
}
