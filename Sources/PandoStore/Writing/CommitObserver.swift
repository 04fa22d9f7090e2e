package import PandoModels

/// Whoever follows every write of a store, in commit order: the bridge to live providers.
///
/// All calls come on the writer thread.
package protocol CommitObserver: AnyObject, Sendable {
  /// Called when a flush begins, and again when it has to be run again.
  ///
  /// What was prepared before and is not committed counts no longer.
  func beginFlush()

  /// Called inside the transaction after a write's closure has run, before the next write's.
  ///
  /// It is the one moment in which exactly this commit can be read. Called for writes that changed
  /// something or carry a ticket; again when the flush has to be run again.
  ///
  /// - Parameters:
  ///   - changeSet: What the write did; `nil` if it changed nothing.
  ///   - ticket: What the write was submitted with.
  ///   - snapshot: The store as this write leaves it.
  /// - Returns: Comes back in ``committed(_:ticket:prepared:)``.
  func prepare(
    _ changeSet: ChangeSet?, ticket: (any Sendable)?, in snapshot: ModelSnapshot
  ) -> (any Sendable)?

  /// Called once the write is committed, before its caller resumes.
  ///
  /// - Parameters:
  ///   - changeSet: What the write did; `nil` if it changed nothing.
  ///   - ticket: What the write was submitted with.
  ///   - prepared: What ``prepare(_:ticket:in:)`` returned.
  func committed(
    _ changeSet: ChangeSet?, ticket: (any Sendable)?, prepared: (any Sendable)?)
}
