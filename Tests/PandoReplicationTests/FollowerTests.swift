import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Who follows a store hears of what others have brought, as of the store's own commits.
@Suite struct FollowerTests {
  /// What a commit has done, without what each store says of it by itself.
  private struct Heard: Equatable {
    let number: UInt64
    let updated: [String]
    let inserted: [String]
    let deleted: [String]
    let lists: [String]

    init(_ change: ChangeSet) {
      number = change.commitNumber.value
      (updated, inserted, deleted) = (change.updated, change.inserted, change.deleted)
      lists = change.collections.map { "\($0)" }
    }
  }

  /// Commits of two stores in every way that there is; 10 in all.
  private static func write(_ replicas: [ReplicaFixture]) throws {
    let (other, own) = (replicas[0], replicas[1])
    // Taken in, two with one transaction.
    for id in ["1", "2"] { try other.store.write { try $0.set(Leaf(id: id)) } }
    try own.replica.catchUp()
    // Behind one that is not known yet: judged, and written with it.
    try other.store.write { try $0.set(Leaf(id: "3")) }
    try own.store.write(context: "own") { try $0.set(Leaf(id: "4")) }
    // Refused, and run again.
    try other.replica.catchUp()
    try other.store.write { try $0.set(Tally(id: 1, marks: [1])) }
    try own.store.write(context: "own") { transaction in
      var tally = try transaction.snapshot.get("Tally:1", as: Tally.self) ?? Tally(id: 1)
      tally.marks.append(2)
      try transaction.set(tally)
    }
    // Written at once.
    try own.store.write(context: "own") { try $0.append([Mark(number: 1)], toCollection: "list") }
    // Several writes of one entry.
    try other.replica.catchUp()
    try other.store.write { transaction in
      for id in ["5", "6"] {
        try other.store.submit(ticket: "shared", context: nil) { try $0.set(Leaf(id: id)) }
      }
      try transaction.deleteIfPresent("Leaf:1")
    }
    // Nothing: a message that is none, and catching up twice.
    try other.store.write { _ in }
    for _ in 0..<2 { try own.replica.catchUp() }
  }

  private static let commitCount = 10

  /// What the other store's change log says: it has written most of it by itself.
  private func expected(_ replicas: [ReplicaFixture]) throws -> [Heard] {
    try replicas[0].store.read { try $0.changes(since: .zero) }.map(Heard.init)
  }

  @Test func `a commit handler gets all commits once and in order, own and others'`() throws {
    try withReplicas(2) { replicas in
      let heard = Locked<[ChangeSet]>([])
      replicas[1].store.setCommitHandler { change in heard.withLock { $0.append(change) } }
      try Self.write(replicas)
      let changes = heard.withLock(\.self)
      #expect(changes.map(\.commitNumber.value) == (1...UInt64(Self.commitCount)).map { $0 })
      #expect(changes.map(Heard.init) == (try expected(replicas)))
      // What a writer passes along comes with its own commits alone.
      let own = changes.filter { $0.context as? String == "own" }.map(\.commitNumber.value)
      #expect(own == [4, 6, 7])
      #expect(replicas[1].replica.statistics.refused == 1)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a sequence of changes brings all commits once and in order, own and others'`() async throws
  {
    try await withTemporaryDirectory { path in
      let log = MemoryLog()
      let replicas = try (0..<2).map { try ReplicaFixture("\(path)/\($0)", MemoryConnection(log)) }
      defer { for replica in replicas { replica.store.close() } }
      let changes = replicas[1].store.changes(since: .zero)
      async let heard = Self.take(Self.commitCount, of: changes)
      try await blocking { try Self.write(replicas) }
      #expect(try await heard.map(Heard.init) == expected(replicas))
      // The same from the middle, and with the records as they are now.
      let later = replicas[1].store.changes(since: CommitNumber(value: 7), values: true)
      let last = try await Self.take(Self.commitCount - 7, of: later)
      #expect(last.map(\.commitNumber.value) == [8, 9, 10])
      #expect(last.map { $0.records.count } == [0, 1, 1])
    }
  }

  private static func take(
    _ count: Int, of changes: some AsyncSequence<ChangeSet, any Error> & Sendable
  ) async throws -> [ChangeSet] {
    var taken: [ChangeSet] = []
    for try await change in changes {
      taken.append(change)
      if taken.count == count { break }
    }
    return taken
  }

  @Test(.timeLimit(.minutes(1)))
  func `a cursor continues after its acknowledged commits after a reopening`()
    async throws
  {
    try await withTemporaryDirectory { path in
      let log = MemoryLog()
      let other = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      defer { other.store.close() }
      try await blocking {
        for id in ["1", "2", "3"] { try other.store.write { try $0.set(Leaf(id: id)) } }
        let own = try ReplicaFixture("\(path)/2", MemoryConnection(log))
        defer { own.store.close() }
        let cursor = try own.store.cursor(named: "mailer", startingAfter: .zero)
        try own.replica.catchUp()
        try cursor.acknowledge(CommitNumber(value: 2))
        // A cursor is of this store alone.
        #expect(log.messages.count == 4)
        try other.store.write { try $0.deleteIfPresent("Leaf:1") }
      }
      let own = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      defer { own.store.close() }
      try await blocking { try own.replica.catchUp() }
      let changes = try own.store.cursor(named: "mailer").changes()
      let heard = try await Self.take(2, of: changes)
      #expect(heard.map(\.commitNumber.value) == [3, 4])
      #expect(heard.map(\.inserted) == [["Leaf:3"], []])
      #expect(heard.map(\.deleted) == [[], ["Leaf:1"]])
    }
  }
}
