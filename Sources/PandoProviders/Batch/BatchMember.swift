import PandoConsistency

/// A provider as a batch knows it.
protocol BatchMember: AnyDataProvider {
  /// Joins a batch, if it is in none.
  ///
  /// - Returns: Whether it is in this one now.
  func join(_ batch: BatchCore) -> Bool

  /// Stands still for the batch.
  func pauseForBatch()

  /// Shows the newest data.
  ///
  /// - Returns: Tells, on the pipeline, what has changed; `nil` if the provider still stands still.
  func resumeForBatch() -> (@Sendable (PipelineScope) -> ResumedMember?)?
}

/// What is told at the end of a pause.
final class ResumedMember {
  let change: any StagedChange
  let update: LiveUpdate

  init(change: any StagedChange, update: LiveUpdate) {
    self.change = change
    self.update = update
  }
}
