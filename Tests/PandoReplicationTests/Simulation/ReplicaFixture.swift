import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore

/// A store with its replica.
struct ReplicaFixture {
  let store: ModelStore
  let replica: Replica

  init(
    _ path: String, _ log: any ReplicationLog, _ configuration: ReplicaConfiguration = .forTests
  ) throws {
    store = try ModelStore(path: path, configuration: .forTests)
    do {
      replica = try Replica(store, log: log, configuration: configuration)
    } catch {
      store.close()
      throw error
    }
  }

  init(store: ModelStore, replica: Replica) { (self.store, self.replica) = (store, replica) }

  /// All that the store holds, as lines.
  func dump() throws -> [String] { try store.dumpLines() }
}

extension ModelStore {
  func dumpLines() throws -> [String] {
    var lines: [String] = []
    try dump { lines.append($0) }
    return lines
  }
}

extension ReplicaConfiguration {
  static var forTests: Self {
    var configuration = Self()
    configuration.resendCountMaximum = 8
    configuration.turnMaximum = .zero
    return configuration
  }
}

/// Runs a closure with replicas that follow one log in memory.
func withReplicas<Result>(
  _ count: Int, on log: MemoryLog = MemoryLog(),
  _ configuration: ReplicaConfiguration = .forTests,
  onCall: @escaping @Sendable (Int, MemoryConnection.Call, MemoryConnection.Moment) throws -> Void =
    { _, _, _ in },
  _ body: ([ReplicaFixture]) throws -> Result
) throws -> Result {
  try withTemporaryDirectory { path in
    let replicas = try (0..<count).map { index in
      try ReplicaFixture(
        "\(path)/\(index)", MemoryConnection(log) { try onCall(index, $0, $1) }, configuration)
    }
    defer { for replica in replicas { replica.store.close() } }
    return try body(replicas)
  }
}

/// A node with text and children of each kind.
struct Card: Model, Codable, Equatable {
  var id: String
  var text = ""
  var required: Leaf?
  var optional: Leaf?
  var leaves: [Leaf] = []
  var modelIdentifier: String? { "Card:\(id)" }
}

/// A node that can't be without its leaf.
struct Frame: Model, Codable, Equatable {
  var id: String
  var leaf: Leaf
  var modelIdentifier: String? { "Frame:\(id)" }
}

struct Leaf: Model, Codable, Equatable {
  var id: String
  var text = ""
  var modelIdentifier: String? { "Leaf:\(id)" }
}

/// A second type of the nodes of ``Card``.
struct CardTitle: Model, Codable, Equatable {
  var id: String
  var text: String
  var color: String
  var modelIdentifier: String? { "Card:\(id)" }
}

/// Which writes have come to a node.
struct Tally: Model, Codable, Equatable {
  var id: Int
  var marks: [Int] = []
  var modelIdentifier: String? { "Tally:\(id)" }
}

/// A value without identifier, in lists.
struct Mark: SimpleModel, Codable, Equatable {
  var number: Int
  var modelIdentifier: String? { nil }
}
