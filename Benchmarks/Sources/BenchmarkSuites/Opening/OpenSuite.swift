import CPeerSQLite
import Pando

/// Opening and closing a store whose file the system still has in memory, without and with a first
/// read between.
struct OpenSuite {
  private let runner: Runner
  private let durability: Durability

  init(_ runner: Runner) {
    self.runner = runner
    durability = runner.options.durability()
  }

  /// Measures everything.
  func run() throws {
    let sizes = [1_000, runner.options.scaled(smoke: 5_000, standard: 1_000_000)]
    for size in sizes {
      let people = PeopleStores(runner, durability, count: size)
      try measure("open", "open and close", people, reads: false)
      try measure(
        "open-read", "open, first read of an 8-field model, and close", people, reads: true)
    }
  }

  private func measure(
    _ name: String, _ operation: String, _ stores: PeopleStores, reads: Bool
  ) throws {
    let count = runner.options.scaled(smoke: 5, standard: 100)
    let contenders = try stores.openings.map { opening in
      let directory = try opening.directory()
      return Workload.Contender(opening.system) {
        try .time(
          count, in: directory,
          { latencies in
            var checksum: UInt64 = 0
            for _ in 0..<count {
              checksum = try latencies.time { try opening.open(directory, reads) }
            }
            return checksum
          })
      }
    }
    try runner.measure(
      Workload(
        name: "\(name)-\(stores.count)", operation: operation,
        parameters: ["models": stores.count, "operations": count],
        series: Workload.Series(name: name, unit: "models", size: stores.count),
        contenders: contenders))
  }
}

/// The same people in all systems.
private struct PeopleStores {
  /// A system's way to be opened.
  struct Opening {
    let system: System
    /// Makes the store if it is not there.
    let directory: () throws -> WorkingDirectory
    /// Opens, perhaps reads, and closes; returns a number of the person that was read.
    let open: (WorkingDirectory, _ reads: Bool) throws -> UInt64
  }

  let count: Int
  private let runner: Runner
  private let durability: Durability
  private let people: [Person]

  init(_ runner: Runner, _ durability: Durability, count: Int) {
    self.runner = runner
    self.durability = durability
    self.count = count
    people = ModelData(seed: runner.options.seed).people(count)
  }

  var openings: [Opening] {
    [pando, lmdb, sqlite, rocksdb].filter { runner.options.takesPart($0.system) }
  }

  private var first: Person { people[0] }

  private var pando: Opening {
    let first = first
    return Opening(system: .pando) {
      try runner.people(.pando, people, durability)
    } open: { directory, reads in
      let models = try PandoModels(directory, durability)
      guard reads else { return 0 }
      return try models.get(Person.self, [first.identifier], each: true)
    }
  }

  private var lmdb: Opening {
    let nodes = FlatNodes([first])
    let expected = checksum
    return Opening(system: .lmdb) {
      try runner.people(.lmdb, people, durability)
    } open: { directory, reads in
      let store = try PeerStore(directory, durability)
      guard reads else { return 0 }
      let seen = try store.get(nodes.rows, each: true, nil)
      return seen == UInt64(first.followerCount) ? expected : seen
    }
  }

  private var sqlite: Opening {
    let first = first
    return Opening(system: .sqlite) {
      try runner.people(.sqlite, people, durability)
    } open: { directory, reads in
      let models = try SQLiteModels(directory, durability)
      guard reads else { return 0 }
      return try models.get(Person.self, [first.identifier], each: true)
    }
  }

  private var rocksdb: Opening {
    let rows = PeopleRows([first])
    let expected = checksum
    return Opening(system: .rocksdb) {
      try runner.people(.rocksdb, people, durability)
    } open: { directory, reads in
      let database = try rows.open(directory, durability)
      defer { database.close() }
      guard reads else { return 0 }
      return try rows.contains(database) ? expected : 0
    }
  }

  /// The checksum of the first person.
  private var checksum: UInt64 {
    var checksum = ModelChecksum(isThorough: false)
    checksum.add(first)
    return checksum.value
  }
}

extension Runner {
  /// A store of people, which several suites use.
  func people(
    _ system: System, _ people: [Person], _ durability: Durability
  ) throws -> WorkingDirectory {
    try fixture("\(Self.sharedPrefix)people-\(people.count)", of: system) { directory in
      switch system {
      case .pando: try PandoModels(directory, durability).put(people)
      case .lmdb:
        let nodes = FlatNodes(people)
        try PeerStore(directory, durability).put(nodes.rows[...], perCommit: nodes.count, nil)
      case .sqlite:
        let models = try SQLiteModels(directory, durability)
        let flat = FlatPeople(people)
        try models.put(flat.rows[...], perCommit: flat.count, nil)
        try models.settle()
      case .rocksdb:
        let rows = PeopleRows(people)
        let database = try rows.open(directory, durability)
        defer { database.close() }
        try rows.put(
          0..<people.count, perCommit: people.count, into: database.makeSession(), nil)
        try database.settle()
      case .pandoModel, .pandoBlob, .json, .propertyList:
        preconditionFailure("\(system.title) stores no people")
      }
    }
  }
}
