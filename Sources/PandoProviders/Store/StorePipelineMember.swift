package import PandoModels
package import PandoStore

/// The plan of a pipeline member for a write.
package enum CommitPlan {
  /// The write does not affect the member.
  case nothing
  /// The write can be shown by itself. ``StorePipelineMember/stage(_:_:)`` receives the value.
  case show(any Sendable)
  /// As `show`, with so little work that the thread of the commit does it.
  case showAtOnce(any Sendable)
  /// A snapshot has to be read.
  case read
}

/// An object whose state follows the commits of a store: live trees, followed queries.
///
/// All calls are made on the pipeline, one at a time.
package protocol StorePipelineMember: AnyObject, Sendable {
  /// Plans the work for a write; changes nothing.
  func plan(for write: CommitEffects) -> CommitPlan

  /// Returns true if the plan for one of some writes is not ``CommitPlan/nothing``.
  func isConcerned(by writes: [CommitEffects]) -> Bool

  /// Stages the changes of a write.
  ///
  /// - Parameters:
  ///   - write: The next write.
  ///   - plan: The value from ``plan(for:)``.
  /// - Returns: `nil` if the write changes nothing.
  func stage(_ write: CommitEffects, _ plan: any Sendable) -> (any PipelineStep)?

  /// Stages the combined changes of several commits.
  ///
  /// - Parameters:
  ///   - group: The commits.
  ///   - snapshot: The store after the last commit.
  /// - Returns: `nil` if the commits change nothing.
  func stage(_ group: CommitGroup, in snapshot: ModelSnapshot) -> (any PipelineStep)?

  /// Returns true if the member shows the list with a cache key.
  func showsList(_ cacheKey: ByteString) -> Bool

  /// Called after all members show a write.
  func finish(_ write: CommitEffects)

  /// Called for a refused write, when it is the write's turn.
  func fail(_ write: CommitEffects, _ error: any Error)

  /// Shows the member's own part of a write whose other effects can't be read.
  func showUnread(_ write: CommitEffects)

  /// Called when a required snapshot could not be read.
  func failRead(_ error: any Error)

  /// Called when the store is closed, after all its commits.
  func storeHasClosed()
}

extension StorePipelineMember {
  package func storeHasClosed() {}
}
