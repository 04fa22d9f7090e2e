import CPeerSQLite
import Pando

/// Several threads that put models, with a commit each.
struct CommitWriters {
  private let runner: Runner
  private let people: [Person]
  private let flat: FlatPeople
  private let nodes: FlatNodes
  private let rows: PeopleRows
  private let count: Int
  private let durability: Durability

  init(_ runner: Runner, _ people: [Person], count: Int, _ durability: Durability) {
    self.runner = runner
    self.people = people
    flat = FlatPeople(people)
    nodes = FlatNodes(people)
    rows = PeopleRows(people)
    self.count = count
    self.durability = durability
  }

  var contenders: [Workload.Contender] {
    [
      Workload.Contender(.pando) {
        let directory = try runner.makeDirectory()
        let pando = try PandoModels(directory, durability)
        let people = people
        return try time(directory) { range, latencies in
          try pando.putEach(people[range], latencies)
        } settle: {
        } hash: {
          try pando.hashOfIdentifiers()
        }
      },
      Workload.Contender(.lmdb) {
        let directory = try runner.makeDirectory()
        let store = try PeerStore(directory, durability)
        let nodes = nodes
        return try time(directory) { range, latencies in
          try store.put(nodes.rows[range], perCommit: 1, latencies)
        } settle: {
        } hash: {
          try store.hashOfIdentifiers()
        }
      },
      Workload.Contender(.sqlite) {
        let directory = try runner.makeDirectory()
        let sqlite = try SQLiteModels(directory, durability)
        let flat = flat
        return try time(directory) { range, latencies in
          try sqlite.put(flat.rows[range], perCommit: 1, latencies)
        } settle: {
          try sqlite.settle()
        } hash: {
          try sqlite.hashOfPeople()
        }
      },
      Workload.Contender(.rocksdb) {
        let directory = try runner.makeDirectory()
        let database = try rows.open(directory, durability)
        defer { database.close() }
        let rows = rows
        return try time(directory) { range, latencies in
          try rows.put(range, perCommit: 1, into: database.makeSession(), latencies)
        } settle: {
          try database.settle()
        } hash: {
          try rows.hashOfIdentifiers(database)
        }
      },
    ]
  }

  /// Runs the threads, each on its share.
  private func time(
    _ directory: WorkingDirectory,
    _ put: @escaping @Sendable (Range<Int>, Latencies) throws -> Void,
    settle: () throws -> Void, hash: () throws -> UInt64
  ) throws -> Measurement {
    let share = people.count / count
    return try .time(
      people.count, stride: 1, in: directory, threadCount: count,
      { latencies in
        let shared = ThreadLatencies(latencies)
        try Threads.run(count) { number in
          try put(number * share..<(number + 1) * share, shared[number])
        }
        return 0
      }, settle: settle, checksum: hash)
  }
}
