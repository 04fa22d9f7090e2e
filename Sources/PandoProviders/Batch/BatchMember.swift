import PandoConsistency

/// A provider as a member of a batch.
protocol BatchMember: AnyDataProvider {
  /// Joins a batch, if the provider belongs to none.
  ///
  /// - Returns: True if the provider now belongs to this batch.
  func join(_ batch: BatchCore) -> Bool

  func pauseForBatch()

  /// Resumes the provider after a pause of the batch.
  ///
  /// - Returns: A closure that stages the changes on the pipeline; `nil` if the provider stays
  ///   paused.
  func resumeForBatch() -> (@Sendable (PipelineScope) -> (any StagedChange)?)?
}
