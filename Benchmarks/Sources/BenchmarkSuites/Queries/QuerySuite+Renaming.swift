import CPeerSQLite
import Pando

/// Another name for what many hold, and have in an index of theirs.
extension QuerySuite {
  func measureRenaming(_ size: Int) throws {
    let names = (0..<runner.options.scaled(smoke: 2, standard: 10)).map { "Author \($0)" }
    func time(
      _ directory: WorkingDirectory, _ rename: @escaping (String) throws -> Void,
      _ count: @escaping (String) throws -> Int
    ) throws -> Measurement {
      try .time(
        names.count, in: directory,
        { latencies in
          var sum: UInt64 = 0
          for name in names {
            try latencies.time { try rename(name) }
            sum += UInt64(try count(name))
          }
          return sum
        })
    }
    try runner.measure(
      Workload(
        name: "rename-\(size)",
        operation: "another name for a child that all hold and have in an index, a commit each",
        parameters: ["entities": size, "operations": names.count], goals: [.sqlite: 0.7],
        series: Workload.Series(name: "rename", unit: "entities", size: size),
        contenders: [
          Workload.Contender(.pando) {
            let directory = try runner.makeDirectory()
            let models = try PandoModels(directory, .unsynchronized)
            try models.store.addIndexes(of: [HeldIssue.self])
            let author = HeldAuthor(id: .remote("1"), name: "Author")
            try models.store.write { transaction in
              for number in 0..<size {
                try transaction.set(
                  HeldIssue(
                    id: .remote("\(number)"), title: "Held by one, \(number)", author: author))
              }
            }
            return try time(directory) { name in
              _ = try models.store.write { transaction in
                try transaction.updateIfPresent(HeldAuthor.self, "HeldAuthor:1") { $0.name = name }
              }
            } _: { name in
              let held = Query<HeldIssue>(filter: \.author.name == name)
              return try models.store.read { try $0.answer(.count, to: held) }
            }
          },
          Workload.Contender(.sqlite) {
            let directory = try runner.makeDirectory()
            let renames = try SQLiteRenames(directory)
            try renames.fill(size)
            return try time(directory, renames.rename, renames.count)
          },
        ]))
  }
}

@Model private struct HeldAuthor: PersistentEntity {
  var id: EntityIdentifier<HeldAuthor>
  var name: String
}

@Model private struct HeldIssue: PersistentEntity {
  var id: EntityIdentifier<HeldIssue>
  var title: String
  var author: HeldAuthor
  static let fields: [Field<HeldIssue>] = [.indexed(\.author.name)]
}

/// Rows that keep the name of their author, in an SQLite database.
private final class SQLiteRenames {
  private let renames: OpaquePointer

  init(_ directory: WorkingDirectory) throws {
    var renames: OpaquePointer?
    try SQLiteModels.check(
      sqlite_renames_open(directory.path, Durability.unsynchronized.peer(of: .sqlite), &renames))
    guard let renames else { preconditionFailure("a database that was opened is not nil") }
    self.renames = renames
  }

  deinit { sqlite_renames_close(renames) }

  func fill(_ count: Int) throws {
    let arena = TextArena()
    try SQLiteModels.check(sqlite_renames_fill(renames, count, arena.text("Author")))
    withExtendedLifetime(arena) {}
  }

  func rename(_ name: String) throws {
    let arena = TextArena()
    try SQLiteModels.check(sqlite_renames_rename(renames, arena.text(name)))
    withExtendedLifetime(arena) {}
  }

  func count(_ name: String) throws -> Int {
    let arena = TextArena()
    var count: Int64 = 0
    try SQLiteModels.check(sqlite_renames_count(renames, arena.text(name), &count))
    withExtendedLifetime(arena) {}
    return Int(count)
  }
}
