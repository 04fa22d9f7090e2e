import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

/// The effect of an update on providers with ascending numbers.
final class StagedModels: StagedChange, @unchecked Sendable {
  // Sendable because only the pipeline writes it until `publish` returns, and only the delivery
  // after that.
  private var members: [StagedModel] = []
  private let cause: StagedModel.Cause
  private(set) var hasCallbacks = false
  private(set) var batches: [any LiveBatch] = []

  /// Creates an empty change with room for the affected providers.
  init(_ cause: StagedModel.Cause, reserving count: Int = 1) {
    members.reserveCapacity(count)
    self.cause = cause
  }

  /// Creates the change of one provider.
  convenience init(
    _ holder: ModelHolder, _ kind: StagedModel.Kind, _ context: (any Sendable)?,
    _ date: Date = Date(), model: (any SimpleModel)? = nil
  ) {
    self.init(StagedModel.Cause(context, date, holder.manager))
    append(StagedModel(holder, kind, model: model))
  }

  /// Adds the provider with the next number.
  func append(_ member: consuming StagedModel) { members.append(consume member) }

  func publish() {
    var span = members.mutableSpan
    for index in span.indices {
      if span[index].publish(cause) { hasCallbacks = true }
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
