import CPeerSQLite
import Pando

/// The model workloads on SQLite: loops are in C where no Swift struct has to come out.
final class SQLiteModels: @unchecked Sendable {
  // Only `put(_:perCommit:_:)` is called by several threads at a time, and the C code locks there.
  let models: OpaquePointer
  private let directory: WorkingDirectory

  init(_ directory: WorkingDirectory, _ durability: Durability) throws {
    self.directory = directory
    var models: OpaquePointer?
    try Self.check(sqlite_models_open(directory.path, durability.peer(of: .sqlite), &models))
    guard let models else { preconditionFailure("a database that was opened is not nil") }
    self.models = models
  }

  deinit { sqlite_models_close(models) }

  /// Moves the log into the database file, where reading is fastest.
  func settle() throws { try Self.check(sqlite_models_settle(models)) }

  /// Inserts new people, so many in each commit.
  func put(_ people: ArraySlice<peer_person>, perCommit: Int, _ latencies: Latencies?) throws {
    try people.withUnsafeBufferPointer { people in
      try Self.check(
        sqlite_models_insert_people(
          models, people.baseAddress, people.count, perCommit, latencies?.counters))
    }
  }

  /// Inserts new trees in one commit.
  func insert(_ trees: FlatTrees, _ latencies: Latencies?) throws {
    try Self.check(
      sqlite_models_insert_trees(models, trees.rows, trees.count, latencies?.counters))
  }

  /// Stores trees that may be there, so many in each commit.
  func put(_ trees: FlatTrees, perCommit: Int, _ latencies: Latencies?) throws {
    try Self.check(
      sqlite_models_put_trees(models, trees.rows, trees.count, perCommit, latencies?.counters))
  }

  /// Stores the follower counts of authors in one commit.
  func putFollowers(_ trees: FlatTrees, _ latencies: Latencies?) throws {
    try Self.check(
      sqlite_models_update_authors(
        models, trees.rows, trees.count, trees.count, latencies?.counters))
  }

  /// Inserts discussions in one commit.
  func insert(_ discussions: [FlatDiscussion], _ latencies: Latencies?) throws {
    var status = sqlite_models_begin(models)
    let latencies = latencies ?? Latencies(stride: discussions.count + 1)
    for discussion in discussions where status == 0 {
      latencies.time {
        status = sqlite_models_insert_thread(
          models, discussion.identifier, discussion.title, discussion.messages.rows,
          discussion.messages.count)
      }
    }
    try Self.check(sqlite_models_end(models, status))
  }

  /// Deletes by identifier, a commit each.
  func delete(_ kind: peer_kind, _ identifiers: [String], _ latencies: Latencies?) throws {
    let arena = TextArena()
    let texts = identifiers.map { arena.text($0) }
    try Self.check(
      sqlite_models_delete(models, kind, texts, texts.count, latencies?.counters))
    withExtendedLifetime(arena) {}
  }

  /// A hash of the identifiers of all people in byte order (FNV-1a).
  func hashOfPeople() throws -> UInt64 {
    var hash: UInt64 = 0
    try Self.check(sqlite_models_hash_people(models, &hash))
    return hash
  }

  static func check(_ status: CInt) throws {
    guard status == 0 else {
      let message = peer_sqlite.message(status).map { String(cString: $0) } ?? "\(status)"
      throw BenchmarkError(.system, "SQLite: \(message)")
    }
  }
}

/// A discussion as C structs.
struct FlatDiscussion {
  let identifier: peer_text
  let title: peer_text
  let messages: FlatTrees
  private let arena: TextArena

  init(_ discussion: Discussion) {
    arena = TextArena()
    identifier = arena.text(discussion.identifier)
    title = arena.text(discussion.title)
    messages = FlatTrees(discussion.messages)
  }
}
