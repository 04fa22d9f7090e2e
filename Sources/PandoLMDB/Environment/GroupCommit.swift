import PandoSystem

/// The writes of an environment that share commits: who leads, and who waits.
///
/// The thread that finds nobody else leads: it begins the transaction, lends it to one waiting
/// thread after another, commits, and tells all how it went. Writes that come while it flushes make
/// up the next group, led by the first of them.
final class CommitGroup: Sendable {
  private struct State {
    var isLed = false
    /// In the order they came.
    var waiting: [Member] = []
  }

  private let state = Locked(State())

  /// Begins to lead, or queues behind whoever does.
  ///
  /// - Returns: `nil` if the calling thread leads.
  func enter() -> Member? {
    state.withLock { state in
      guard state.isLed else {
        state.isLed = true
        return nil
      }
      let member = Member()
      state.waiting.append(member)
      return member
    }
  }

  /// The write that has waited longest, which waits for its leader's word now.
  func next() -> Member? {
    state.withLock { state in
      state.waiting.isEmpty ? nil : state.waiting.removeFirst()
    }
  }

  /// Lets the write lead that has waited longest; the caller leads no more.
  func passOn() {
    let next = state.withLock { state -> Member? in
      if state.waiting.isEmpty {
        state.isLed = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.hear(.lead)
  }
}

extension CommitGroup {
  /// What a leader tells a waiting write.
  enum Word {
    /// It leads the next group.
    case lead
    /// Its closure has its turn in the leader's transaction.
    case write(UnsafeSnapshotHandle)
    /// What it wrote is committed.
    case committed
    /// The group came to nothing: it commits alone.
    case alone
  }

  /// A write that waits, on the thread that wants it.
  final class Member: Sendable {
    private struct State {
      var word: Word?
      var hasWritten: Bool?
    }

    private let state = Monitor(State())

    /// Tells it something; on the leader's thread.
    func hear(_ word: Word) {
      state.withLock { $0.word = word }
      state.notifyAll()
    }

    /// Waits for the next thing it is told.
    func nextWord() -> Word {
      state.waiting { state in exchange(&state.word, with: nil) }
    }

    /// Lends it the transaction and waits until it has written; on the leader's thread.
    ///
    /// - Returns: `false` if its closure failed.
    func write(in transaction: UnsafeSnapshotHandle) -> Bool {
      hear(.write(transaction))
      return state.waiting { $0.hasWritten }
    }

    /// Gives the transaction back.
    func giveBack(hasWritten: Bool) {
      state.withLock { $0.hasWritten = hasWritten }
      state.notifyAll()
    }
  }
}

extension Environment {
  /// Runs `body` in a transaction that it shares with the writes of other threads that wait.
  ///
  /// When one of them fails, or the commit, each runs again in a transaction of its own: its error is
  /// then its own, and nobody else's.
  func writeTogether<Result>(
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    writer.checkIsFree(for: "write")
    guard let member = commits.enter() else { return try lead(body) }
    configuration.onEvent?(.writeQueued)
    var result: Result?
    while true {
      switch member.nextWord() {
      case .lead:
        return try lead(body)
      case .write(let transaction):
        result = writer.lent { attempt(body, in: transaction) }
        member.giveBack(hasWritten: result != nil)
      case .committed:
        guard let result else { preconditionFailure("committed before it was written") }
        return result
      case .alone:
        return try writer.withLock("write") { try writeAlone(body) }
      }
    }
  }

  /// Runs `body` and the writes that wait in one transaction, and lets another thread lead.
  private func lead<Result>(
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    defer { commits.passOn() }
    return try writer.withLock("write") {
      var members: [CommitGroup.Member] = []
      let result = try writeGroup(body, &members)
      // Those that go on alone find the lock taken until this one has done so.
      for member in members { member.hear(result == nil ? .alone : .committed) }
      return try result ?? writeAlone(body)
    }
  }

  /// Runs `body` and the writes that wait in one transaction; the writer lock is held.
  ///
  /// - Parameters:
  ///   - body: What the calling thread writes.
  ///   - members: Becomes the writes that were begun beside `body`.
  /// - Returns: `nil` if nothing was committed.
  /// - Throws: ``LMDBError`` if no transaction can begin.
  private func writeGroup<Result>(
    _ body: (inout WriteTransaction) throws -> Result, _ members: inout [CommitGroup.Member]
  ) throws -> Result? {
    var transaction = try beginWriting()
    let result = attempt(body, in: transaction.handle)
    var isWhole = result != nil
    while isWhole, let member = commits.next() {
      members.append(member)
      isWhole = member.write(in: transaction.handle)
    }
    guard isWhole else {
      transaction.abort()
      return nil
    }
    do throws(LMDBError) {
      try transaction.commit()
    } catch {
      // What it means for later commits is found out before they run.
      if error.code != .mapFull { _ = commitError(error) }
      return nil
    }
    return result
  }

  /// Runs `body` in a transaction that others use before and after it.
  ///
  /// - Returns: `nil` if it failed, whatever the reason.
  private func attempt<Result>(
    _ body: (inout WriteTransaction) throws -> Result, in handle: UnsafeSnapshotHandle
  ) -> Result? {
    var transaction = WriteTransaction(handle)
    let result = try? body(&transaction)
    precondition(
      transaction.handle.environment == number, "the transaction was exchanged for another one")
    return transaction.failure == nil ? result : nil
  }
}
