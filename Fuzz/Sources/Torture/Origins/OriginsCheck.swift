import Pando
import PandoReplication

/// Compares what all machines hold with what was written down.
struct OriginsCheck {
  private typealias Mark = OriginsModels.Mark

  let records: [OriginsLedger.Record]
  /// Writes that are there and must be.
  private(set) var acknowledgedCount = 0
  /// Stored writes that no process has reported.
  private(set) var untoldCount = 0
  private(set) var refusedCount = 0
  /// Kills behind an answer: the store had no commit yet, it had one that no process had reported, and
  /// the caller had its result.
  private(set) var beforeCommitCount = 0
  private(set) var behindCommitCount = 0
  private(set) var toldCount = 0

  init(_ records: [OriginsLedger.Record]) { self.records = records }

  /// Has all machines take in the log to its end, and throws unless they are equal and verified.
  mutating func check(
    _ folders: [String], _ server: OriginsServer, _ log: OriginsLog
  ) async throws {
    let end = log.end
    var first: [String] = []
    for (machine, folder) in folders.enumerated() {
      server.expect(OriginLife(0, of: machine, plan: nil))
      let connection = try OriginsConnection(server.path, machine: machine, life: 0)
      let replica = try ReplicatedStore(
        path: folder, log: connection, configuration: .torture())
      try await replica.caughtUp()
      let position = try replica.position
      // Machines append marks while they catch up.
      try require(
        (end...log.end).contains(position),
        "machine \(machine) is at position \(position), the log ended at \(end)")
      let report = try replica.store.verify()
      try require(report.isClean, "machine \(machine), verify: \(report.problems)")
      var lines: [String] = []
      try replica.store.dump { lines.append($0) }
      if machine == 0 {
        first = lines
        try check(replica.store)
      } else if lines != first {
        let difference = lines.difference(from: first).prefix(8).map { "\($0)" }
        throw TortureFailure("machines 0 and \(machine) differ: \(difference)")
      }
      await replica.close()
    }
  }

  private mutating func check(_ store: ModelStore) throws { try store.read { try check($0) } }

  private mutating func check(_ snapshot: borrowing ModelSnapshot) throws {
    var marks: [String: Mark] = [:]
    try snapshot.forEachModel(of: Mark.self) { mark in
      marks[mark.id] = mark
      return true
    }
    try checkCounters(snapshot, marks)
    for record in records { try check(record, marks) }
    try require(
      marks.count == acknowledgedCount + untoldCount,
      "\(marks.count) writes are there: \(acknowledgedCount) that were acknowledged, "
        + "\(untoldCount) that were under way, and others")
  }

  private mutating func check(
    _ record: OriginsLedger.Record, _ marks: [String: Mark]
  ) throws {
    var hasUntold = false
    for (task, count) in record.endedCounts.enumerated() {
      for step in 1..<count + 1 {
        let write = OriginsWrite(
          machine: record.machine, life: record.life, task: task, step: step)
        let isThere = marks[write.mark] != nil
        if record.refused.contains(write) {
          try require(!isThere, "write \(write.mark) was refused, and is there")
          refusedCount += 1
        } else {
          try require(isThere, "write \(write.mark) was acknowledged, and is lost")
          acknowledgedCount += 1
        }
      }
      if marks[record.untold(task: task).mark] != nil {
        untoldCount += 1
        hasUntold = true
      }
    }
    guard let hadUntold = record.hadUntold else { return }
    switch (hadUntold, hasUntold) {
    case (true, true): behindCommitCount += 1
    case (false, true): beforeCommitCount += 1
    case (false, false): toldCount += 1
    case (true, false):
      throw TortureFailure(
        "machine \(record.machine), life \(record.life): a write that its store had is lost")
    }
  }

  /// No two writes have seen the same, and each list has them in the order of its counter.
  private func checkCounters(
    _ snapshot: borrowing ModelSnapshot, _ marks: [String: Mark]
  ) throws {
    let counters = Dictionary(grouping: marks.values, by: \.counter)
    for (id, marks) in counters {
      let count = try snapshot[OriginsModels.Counter.key(id)]?.count
      let listed = try snapshot.collection(OriginsWrite.journal(id), as: Mark.self) ?? []
      try require(
        count == marks.count && listed.count == marks.count,
        "counter \(id) says \(count ?? 0), its list has \(listed.count) elements: "
          + "\(marks.count) writes have marks")
      for (index, mark) in listed.enumerated() {
        try require(
          mark.value == index + 1, "counter \(id): write \(mark.id) is number \(index + 1)")
      }
    }
  }
}
