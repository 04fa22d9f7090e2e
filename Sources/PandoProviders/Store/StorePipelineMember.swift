package import PandoModels
package import PandoStore

/// What a member of a store's pipeline does for a write.
package enum CommitPlan {
  /// It does not concern it.
  case nothing
  /// It can be shown by itself, with what ``StorePipelineMember/stage(_:_:)`` gets back.
  case show(any Sendable)
  /// A snapshot has to be read.
  case read
}

/// Somebody who keeps something in step with a store: live trees, followed queries.
///
/// All calls come on the pipeline.
package protocol StorePipelineMember: AnyObject, Sendable {
  /// Says what has to be done for a write; changes nothing.
  func plan(for write: CommitEffects) -> CommitPlan

  /// Works out what a write changes.
  ///
  /// - Parameters:
  ///   - write: The next one.
  ///   - plan: What ``plan(for:)`` made of it.
  /// - Returns: `nil` if nothing does.
  func stage(_ write: CommitEffects, _ plan: any Sendable) -> (any PipelineStep)?

  /// Works out what several commits change together.
  ///
  /// - Parameters:
  ///   - group: The commits.
  ///   - snapshot: The store as the last of them leaves it.
  /// - Returns: `nil` if nothing does.
  func stage(_ group: CommitGroup, in snapshot: ModelSnapshot) -> (any PipelineStep)?

  /// Whether it shows the list with a cache key.
  func showsList(_ cacheKey: ByteString) -> Bool

  /// Called when everybody shows a write.
  func finish(_ write: CommitEffects)

  /// Called at the place of a write that was refused.
  func fail(_ write: CommitEffects, _ error: any Error)

  /// Shows of a write what the member has asked for itself, because the rest can't be read.
  func showUnread(_ write: CommitEffects)

  /// Called when a snapshot that was needed could not be read.
  func failRead(_ error: any Error)

  /// Waits until what it reads has come to the pipeline.
  func loaded() async

  /// Called when the store is closed, behind all that it has committed.
  func storeHasClosed()
}

extension StorePipelineMember {
  package func storeHasClosed() {}
}
