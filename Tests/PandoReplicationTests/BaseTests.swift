import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Entries that are made from what lies far behind.
@Suite struct BaseTests {
  /// What comes before an entry while it is on its way.
  enum Between: CaseIterable {
    /// Commits, in one entry.
    case commits
    /// Messages that are no entries.
    case messages
  }

  /// Lets an entry wait until others have brought so much, and writes it.
  ///
  /// - Returns: How often its closure has run.
  private func write(
    behind count: Int, _ between: Between, isChanged: Bool = false,
    _ check: ([ReplicaFixture]) throws -> Void
  ) throws -> Int {
    let log = MemoryLog()
    let isBusy = Rival()
    let runs = Locked(0)
    try withReplicas(
      3, on: log,
      onCall: { index, call, moment in
        guard index == 0, call == .append, moment == .before, isBusy.count == 0 else { return }
        try isBusy.write()
      }
    ) { replicas in
      try replicas[1].store.write { try $0.set(Tally(id: 1, marks: [1])) }
      try replicas[0].replica.catchUp()
      var commit = WriteEffects()
      commit.isCommit = true
      let commits = LogMessage.entry(
        try replicas[0].store.entry(Array(repeating: commit, count: count)))
      isBusy.begin { _ in
        if isChanged { try replicas[1].store.write { try $0.set(Tally(id: 1, marks: [1, 3])) } }
        switch between {
        case .commits: log.append(commits.bytes)
        case .messages: for _ in 0..<count { log.append([0]) }
        }
      }
      try replicas[0].store.write { transaction in
        runs.withLock { $0 += 1 }
        var tally = try transaction.snapshot.get("Tally:1", as: Tally.self) ?? Tally(id: 1)
        tally.marks.append(2)
        try transaction.set(tally)
      }
      for replica in replicas { try replica.replica.catchUp() }
      for replica in replicas {
        let tally = try replica.store.read { try $0.get("Tally:1", as: Tally.self) }
        #expect(tally?.marks == (isChanged ? [1, 3, 2] : [1, 2]))
        #expect(try replica.dump() == replicas[0].dump())
      }
      try check(replicas)
    }
    return runs.withLock(\.self)
  }

  /// As many commits as the change log of a replicated store keeps at least.
  private static let commitCount = Int(ModelTransaction.judgedCommitCount)

  @Test(arguments: Between.allCases)
  func `an entry that lies too far behind is refused, and its closure runs again`(
    between: Between
  ) throws {
    // Its own position counts as well.
    let count = between == .commits ? Self.commitCount + 1 : Self.commitCount
    let runs = try write(behind: count, between) { replicas in
      for replica in replicas { #expect(replica.replica.statistics.refused == 1) }
      #expect(replicas[0].replica.statistics.direct == 1)
    }
    #expect(runs == 2)
  }

  @Test(arguments: Between.allCases)
  func `an entry that lies as far behind as may be is judged`(between: Between) throws {
    let count = between == .commits ? Self.commitCount : Self.commitCount - 1
    let runs = try write(behind: count, between) { replicas in
      for replica in replicas { #expect(replica.replica.statistics.refused == 0) }
    }
    #expect(runs == 1)
  }

  /// The window ends between the two: what changed the node is the first that it still has, or not any more.
  @Test(arguments: Between.allCases, [-1, 0])
  func `a change of another machine at the edge of the window is not overwritten`(
    between: Between, distance: Int
  ) throws {
    let runs = try write(behind: Self.commitCount + distance, between, isChanged: true) {
      replicas in
      for replica in replicas { #expect(replica.replica.statistics.refused == 1) }
    }
    #expect(runs == 2)
  }
}
