import Consistency

/// The part of a batch that the members know.
final class BatchCore: LiveBatch {
  func deliver(_ changes: [any StagedChange], _ update: LiveUpdate) {}
}
