import PandoModels
import PandoSystem

/// One queued change of a listener.
final class ListenerChange: StagedChange, @unchecked Sendable {
  // Sendable because `batch` is used on the delivery target only, which makes one call at a time.

  /// A change that a listener has received.
  struct Told {
    let batch: (any LiveBatch)?
    let listener: any ConsistencyManagerListener
    let updates: ModelUpdates
    let context: (any Sendable)?
    let order: UInt64
  }

  let sequence: UInt64
  /// The root of the changed tree.
  let root: String?
  let model: (any Model)?
  let updates: ModelUpdates
  let origin: ChangeOrigin
  private let holder: ListenerHolder
  private var batch: (any LiveBatch)?

  init(
    _ holder: ListenerHolder, _ sequence: UInt64, _ root: String?, _ model: (any Model)?,
    _ updates: ModelUpdates, _ origin: ChangeOrigin
  ) {
    self.holder = holder
    self.sequence = sequence
    self.root = root
    self.model = model
    self.updates = updates
    self.origin = origin
  }

  func publish() {}

  func deliver() { batch = holder.tell(self) }

  var batches: [any LiveBatch] { batch.map { [$0] } ?? [] }

  /// The change with the batch to notify; `nil` if the listener was released.
  var told: Told? {
    guard let listener = holder.listener else { return nil }
    return Told(
      batch: batch, listener: listener, updates: updates, context: origin.context,
      order: origin.order)
  }
}

/// All held-back changes of a listener, queued as one call.
final class CatchUp: StagedChange, @unchecked Sendable {
  // Sendable because `told` is used on the delivery target only, which makes one call at a time.

  let sequence: UInt64
  /// The root of the changed tree.
  let root: String?
  let model: (any Model)?
  let changes: HeldChanges?
  private let holder: ListenerHolder
  private(set) var told: ListenerChange.Told?

  init(
    _ holder: ListenerHolder, _ sequence: UInt64, _ root: String?, _ model: (any Model)?,
    _ changes: HeldChanges?
  ) {
    self.holder = holder
    self.sequence = sequence
    self.root = root
    self.model = model
    self.changes = changes
  }

  var batches: [any LiveBatch] { (told?.batch).map { [$0] } ?? [] }

  func publish() {}

  func deliver() {
    holder.state.withLock { $0.queuedCount -= 1 }
    told = holder.tell(self)
  }
}
