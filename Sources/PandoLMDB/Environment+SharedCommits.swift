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
