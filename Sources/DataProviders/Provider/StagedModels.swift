import Consistency
import Locking
import ModelCore

/// What an update does to providers that come one after another in the order of their numbers.
final class StagedModels: StagedChange, @unchecked Sendable {
  // Sendable because the pipeline writes it until `publish` returns, and the delivery owns it then.
  private var members: [StagedModel] = []
  private let cause: StagedModel.Cause
  private(set) var batches: [any LiveBatch] = []

  init(_ update: LiveUpdate, _ manager: DataModelManager) {
    cause = StagedModel.Cause(
      context: update.context, date: update.date,
      limit: Int32(clamping: manager.limits.undeliveredCallbacksMaximum))
  }

  /// What an update does to one provider.
  convenience init(
    _ holder: ModelHolder, _ kind: StagedModel.Kind, _ update: LiveUpdate,
    model: (any SimpleModel)? = nil
  ) {
    self.init(update, holder.manager)
    append(StagedModel(holder, kind, model: model))
  }

  /// Adds the provider with the next number.
  func append(_ member: consuming StagedModel) { members.append(member) }

  func publish() {
    var span = members.mutableSpan
    for index in span.indices { span[index].publish(cause) }
  }

  func deliver() {
    let members = members
    let span = members.span
    for index in span.indices {
      guard let batch = span[index].deliver(cause) else { continue }
      if !batches.contains(where: { $0 === batch }) { batches.append(batch) }
    }
  }
}
