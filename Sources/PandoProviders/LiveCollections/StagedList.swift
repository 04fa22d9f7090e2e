import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

/// The effect of an update on the committed elements of a collection.
struct StagedList<T: SimpleModel>: StagedChange {
  /// The effect on positions.
  indirect enum Structure: Sendable {
    case none
    /// The first pending edit is committed at its shown positions.
    case confirmed(ListOperation<T>)
    /// A pending edit has failed.
    case failed(ListOperation<T>)
    /// The list changed by a commit that is not an edit of this collection.
    case script(ListScript<T>)
    /// The list was read or computed as a whole.
    case whole(Whole)
    /// A member's pause has ended.
    case resumed(UInt64)
  }

  /// A list that was read or computed as a whole.
  struct Whole: Sendable {
    var list: LiveList<T>
    /// The rows whose contents may have changed: rows of both lists, and rows of edits.
    var updated: [LiveRow]
    /// True if the collection exists after the update.
    var isPresent: Bool
    /// True if the stored elements were read.
    var isRead = true
    /// The kind of notification.
    var telling: Telling
    /// The pending edits that were committed with it.
    var operations: [ListOperation<T>]
    /// The pending edits before the committed ones; they have failed.
    var overtaken: [ListOperation<T>]
  }

  /// The kind of notification for a list that was read as a whole.
  enum Telling: Sendable {
    case reset
    case difference
    /// No notification; the callers of a fetch get an answer.
    case nobody
  }

  let collection: LiveCollection<T>
  let context: (any Sendable)?
  let date: Date
  var structure = Structure.none
  /// Rows with new contents, in ascending order.
  var contents: [(row: LiveRow, model: T)] = []
  /// The stored elements after the update; `nil` if they equal the committed ones before and after it.
  var stored: StoredElements<T>?
  /// Rows that are removed because their models were deleted.
  var removed: [LiveRow] = []
  private let told = Locked(Told())

  /// Values that are set when the update is published and when it is delivered.
  private struct Told {
    var number: UInt64 = 0
    var batches: [BatchCore] = []
  }

  init(_ collection: LiveCollection<T>, _ update: LiveUpdate) {
    self.collection = collection
    context = update.context
    date = update.date
  }

  /// The pending edits that the update ends.
  var operations: [ListOperation<T>] {
    switch structure {
    case .failed(let operation): [operation]
    case .whole(let whole): whole.overtaken + whole.operations
    case .none, .confirmed, .script, .resumed: committed
    }
  }

  /// The pending edits that the update commits.
  var committed: [ListOperation<T>] {
    switch structure {
    case .confirmed(let operation): [operation]
    case .whole(let whole): whole.operations
    case .none, .failed, .script, .resumed: []
    }
  }

  /// The rows whose contents may change, in ascending order; new rows may be among them.
  var touched: [LiveRow] {
    let own: [LiveRow] =
      switch structure {
      case .none, .resumed: []
      case .confirmed(let operation), .failed(let operation): operation.edit.rows
      case .script(let script): Array(script.models.keys)
      case .whole(let whole): whole.updated
      }
    let all = contents.map(\.row) + own
    return own.isEmpty ? all : Set(all).ordered()
  }

  var isEmpty: Bool {
    if case .none = structure { return contents.isEmpty && removed.isEmpty && stored == nil }
    return false
  }

  /// The batches to notify after all members; set by ``deliver()``.
  var batches: [any LiveBatch] { told.withLock { $0.batches } }

  func publish() {
    let number = collection.publish(self)
    told.withLock { $0.number = number }
    if InternalChecks.areOn {
      collection.state.withLock { $0.checkInvariants() }
    }
  }

  func deliver() {
    if committed.count < operations.count { collection.tellTrackers() }
    let batches = collection.tellUpdate(told.withLock { $0.number })
    collection.reportLimits()
    if !batches.isEmpty { told.withLock { $0.batches = batches } }
  }
}
