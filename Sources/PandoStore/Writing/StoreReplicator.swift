package import PandoModels

/// Sends the writes of a replicated store to its log before they are committed; one per store.
///
/// The leading thread calls all methods.
package protocol StoreReplicator: AnyObject, Sendable {
  /// Called at the begin of a flush.
  ///
  /// - Throws: `GroupDetour` if known entries have to be applied first.
  func beginFlush(_ transaction: borrowing ModelTransaction) throws

  /// Whether a write may share a flush with an earlier one: the writes of a flush fail together.
  ///
  /// - Parameters:
  ///   - start: When it was queued, in nanoseconds of the machine that never go back.
  ///   - first: When the first write of the flush was.
  /// - Returns: Whether it may; else it belongs to the next flush.
  func mayShare(_ start: Int64, with first: Int64) -> Bool

  /// Called after a write of the flush has run.
  ///
  /// - Parameters:
  ///   - transaction: The transaction after the write.
  ///   - changeSet: Its changes; `nil` if there are none.
  /// - Returns: Whether the write goes to the log.
  /// - Throws: An error that refuses the write.
  func didRun(_ transaction: borrowing ModelTransaction, _ changeSet: ChangeSet?) throws -> Bool

  /// Called after all writes of the flush have run, before the commit.
  ///
  /// - Parameters:
  ///   - transaction: The transaction after all writes.
  ///   - start: When the first of its writes was queued, in monotonic nanoseconds.
  /// - Throws: `GroupDetour` if the flush can't be committed as it is.
  func endFlush(_ transaction: borrowing ModelTransaction, queuedAt start: Int64) throws

  /// Called after a flush was rolled back; applies the log's entries, including the flush's own.
  ///
  /// - Parameter writer: The writer of the entries.
  /// - Returns: The outcome of each write of the flush that went to the log, in order; empty if
  ///   there are none.
  /// - Throws: The reason why the outcome is unknown.
  func settle(_ writer: EntryWriter) throws -> [WriteVerdict]
}

/// The outcome of a judged write.
package enum WriteVerdict: Sendable {
  /// The write is committed.
  case applied(ChangeSet?)
  /// The write has no effect; it has to run again on the newer state.
  case refused

  package var isApplied: Bool {
    if case .applied = self { true } else { false }
  }
}
