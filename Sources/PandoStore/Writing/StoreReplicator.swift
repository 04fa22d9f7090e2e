package import PandoModels

/// What brings the writes of a replicated store to its log before they are committed; one a store.
///
/// All is called on the thread that leads the writes.
package protocol StoreReplicator: AnyObject, Sendable {
  /// A flush begins, at what the store has taken in so far.
  ///
  /// - Throws: `GroupDetour` if something is known that has to be taken in before.
  func beginFlush(_ transaction: borrowing ModelTransaction) throws

  /// A write of the flush has run.
  ///
  /// - Parameters:
  ///   - transaction: The transaction after the write.
  ///   - changeSet: What the write has changed; `nil` if nothing.
  /// - Returns: Whether it goes to the log.
  /// - Throws: To refuse the write.
  func didRun(_ transaction: borrowing ModelTransaction, _ changeSet: ChangeSet?) throws -> Bool

  /// All writes of the flush have run, and it is about to be committed.
  ///
  /// - Parameters:
  ///   - transaction: The transaction after all writes.
  ///   - start: When the first of its writes was queued, in nanoseconds of the machine that never go back.
  /// - Throws: `GroupDetour` if it can't be as it is.
  func endFlush(_ transaction: borrowing ModelTransaction, queuedAt start: Int64) throws

  /// A flush was given up: takes in what the log holds, that flush's entry included.
  ///
  /// - Parameter writer: Where to write it.
  /// - Returns: What became of each write of the flush that went to the log, in their order; none if
  ///   none did.
  /// - Throws: Why that is not known.
  func settle(_ writer: EntryWriter) throws -> [WriteVerdict]
}

/// What became of a write that had to be judged.
package enum WriteVerdict: Sendable {
  /// It is committed.
  case applied(ChangeSet?)
  /// Nothing of it is; it has to see what came before.
  case refused

  package var isApplied: Bool {
    if case .applied = self { true } else { false }
  }
}
