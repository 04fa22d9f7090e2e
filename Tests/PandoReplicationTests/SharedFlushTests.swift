import PandoFixtures
import PandoReplication
import PandoSystem
import Testing

@testable import PandoStore

/// Writes of one store that are queued together, and do not wait for the log as long.
@Suite struct SharedFlushTests {
  /// A replica for which writes that were queued up to a moment have waited for half as long again as one that does not
  /// wait for others.
  private final class AgedReplica: StoreReplicator {
    static let wait: Int64 = 1_000_000_000_000
    let replica: Replica
    let moment = Locked<Int64>(0)

    init(_ replica: Replica) { self.replica = replica }

    private func aged(_ time: Int64) -> Int64 {
      moment.withLock { time <= $0 ? time - Self.wait * 3 / 2 : time }
    }

    func beginFlush(_ transaction: borrowing ModelTransaction) throws {
      try replica.beginFlush(transaction)
    }

    func mayShare(_ start: Int64, with first: Int64) -> Bool {
      replica.mayShare(aged(start), with: aged(first))
    }

    func didRun(
      _ transaction: borrowing ModelTransaction, _ changeSet: ChangeSet?
    ) throws -> Bool { try replica.didRun(transaction, changeSet) }

    func endFlush(_ transaction: borrowing ModelTransaction, queuedAt start: Int64) throws {
      try replica.endFlush(transaction, queuedAt: aged(start))
    }

    func settle(_ writer: EntryWriter) throws -> [WriteVerdict] { try replica.settle(writer) }
  }

  /// Queues two writes while a first one is under way, which counts as one that has waited for long.
  ///
  /// - Parameter failsFirst: Whether the log does not answer the first entry.
  /// - Returns: Why each has failed, until when each entry is waited for, and when the last one was queued.
  /// - Throws: What opening a store throws.
  private func run(
    failsFirst: Bool
  ) throws -> (errors: [StoreError.Code?], deadlines: [Int64], start: Int64) {
    let (log, isSilent) = (MemoryLog(), Locked(false))
    let deadlines = Locked<[Int64]>([])
    let errors = Monitor<[Int: StoreError.Code?]>([:])
    let connection = MemoryConnection(log) { call, moment in
      guard moment == .before else { return }
      if call == .append, log.messages.count > 1 {
        deadlines.withLock { $0.append(LogDeadline.nanoseconds ?? 0) }
      }
      if isSilent.withLock(\.self) {
        throw call == .append ? LogFault.noAnswer : .unavailable("no answer")
      }
    }
    return try withTemporaryDirectory { path in
      var configuration = ReplicaConfiguration.forTests
      configuration.resendDurationMaximum = .nanoseconds(AgedReplica.wait)
      let fixture = try ReplicaFixture(path, connection, configuration)
      defer { fixture.store.close() }
      try fixture.store.write { try $0.set(Leaf(id: "before")) }
      let replica = AgedReplica(fixture.replica)
      fixture.store.attach(replica)
      let gate = Event()
      func submit(_ number: Int) throws {
        let job = WriteJob(context: nil) { transaction in
          if number == 0 { gate.wait() }
          try transaction.set(Leaf(id: "\(number)"))
        } completion: { result in
          if number == 0 { isSilent.withLock { $0 = false } }
          var code: StoreError.Code?
          if case .failure(let error) = result { code = (error as? StoreError)?.code ?? .engine }
          errors.withLock { $0[number] = code }
          errors.notifyAll()
        }
        try fixture.store.writer?.submit(job)
      }
      try submit(0)
      let moment = monotonicNanoseconds()
      replica.moment.withLock { $0 = moment }
      while monotonicNanoseconds() == moment {}
      let start = monotonicNanoseconds()
      for number in 1...2 { try submit(number) }
      isSilent.withLock { $0 = failsFirst }
      gate.signal()
      let found = errors.waiting { $0.count == 3 ? $0 : nil }
      return ((0..<3).map { found[$0] ?? nil }, deadlines.withLock(\.self), start)
    }
  }

  /// Fixed: the first one had a second left, say, and the log had to answer for all three within that.
  @Test func `a write that has waited for long does not shorten the wait of others`() throws {
    let (errors, deadlines, start) = try run(failsFirst: false)
    #expect(errors == [nil, nil, nil])
    try #require(deadlines.count == 2)
    #expect(deadlines[0] < start + AgedReplica.wait * 3 / 4)
    #expect(deadlines[1] >= start + AgedReplica.wait)
  }

  @Test func `writes go on behind one that is given up because it has waited for long`() throws {
    let (errors, _, _) = try run(failsFirst: true)
    #expect(errors == [.unavailable, nil, nil])
  }
}
