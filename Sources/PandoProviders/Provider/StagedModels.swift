import PandoConsistency
import PandoModels
import PandoSystem

/// The effect of an update on providers with ascending numbers.
final class StagedModels: StagedChange, @unchecked Sendable {
  // Sendable because only the pipeline writes it until `publish` returns, and only the delivery
  // after that.
  private var members: [StagedModel] = []
  private let cause: StagedModel.Cause
  private(set) var isTold = false
  private(set) var batches: [any LiveBatch] = []

  /// Creates an empty change with room for the affected providers.
  init(_ update: borrowing LiveUpdate, _ manager: DataModelManager, reserving count: Int = 1) {
    members.reserveCapacity(count)
    cause = StagedModel.Cause(
      context: update.context, date: update.date,
      limit: Int32(clamping: manager.limits.undeliveredCallbacksMaximum))
  }

  /// Creates the change of one provider.
  convenience init(
    _ holder: ModelHolder, _ kind: StagedModel.Kind, _ update: borrowing LiveUpdate,
    model: (any SimpleModel)? = nil
  ) {
    self.init(update, holder.manager)
    append(StagedModel(holder, kind, model: model))
  }

  /// Adds the provider with the next number.
  func append(_ member: consuming StagedModel) { members.append(consume member) }

  func publish() {
    var span = members.mutableSpan
    for index in span.indices {
      if span[index].publish(cause) { isTold = true }
    }
  }

  func deliver() {
    var span = members.mutableSpan
    for index in span.indices {
      guard let batch = span[index].deliver(cause) else { continue }
      if !batches.contains(where: { $0 === batch }) { batches.append(batch) }
    }
  }
}
