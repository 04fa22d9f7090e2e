import CPeerSQLite
import Pando

/// One thread that puts models, so many in each commit; the latency is that of a commit.
struct CommitBatches {
  private let runner: Runner
  private let people: [Person]
  private let flat: FlatPeople
  private let nodes: FlatNodes
  private let rows: PeopleRows
  private let size: Int

  init(_ runner: Runner, _ people: [Person], size: Int) {
    self.runner = runner
    self.people = people
    flat = FlatPeople(people)
    nodes = FlatNodes(people)
    rows = PeopleRows(people)
    self.size = size
  }

  var contenders: [Workload.Contender] {
    let durability = runner.options.durability()
    return [
      Workload.Contender(.pando) {
        let directory = try runner.makeDirectory()
        let pando = try PandoModels(directory, durability)
        return try time(directory) { range in
          try pando.put(people[range])
        } settle: {
        } hash: {
          try pando.hashOfIdentifiers()
        }
      },
      Workload.Contender(.lmdb) {
        let directory = try runner.makeDirectory()
        let store = try PeerStore(directory, durability)
        return try time(directory) { range in
          try store.put(nodes.rows[range], perCommit: size, nil)
        } settle: {
        } hash: {
          try store.hashOfIdentifiers()
        }
      },
      Workload.Contender(.sqlite) {
        let directory = try runner.makeDirectory()
        let sqlite = try SQLiteModels(directory, durability)
        return try time(directory) { range in
          try sqlite.put(flat.rows[range], perCommit: size, nil)
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
        let session = try database.makeSession()
        return try time(directory) { range in
          try rows.put(range, perCommit: size, into: session, nil)
        } settle: {
          try database.settle()
        } hash: {
          try rows.hashOfIdentifiers(database)
        }
      },
    ]
  }

  private func time(
    _ directory: WorkingDirectory, _ put: (Range<Int>) throws -> Void,
    settle: () throws -> Void, hash: () throws -> UInt64
  ) throws -> Measurement {
    try .time(
      people.count, in: directory,
      { latencies in
        for start in stride(from: 0, to: people.count, by: size) {
          try latencies.time { try put(start..<min(start + size, people.count)) }
        }
        return 0
      }, settle: settle, checksum: hash)
  }
}
