import PandoConsistency
import FoundationEssentials
import PandoSystem
import PandoModels

/// What an update does to the committed elements of a collection.
struct StagedList<T: SimpleModel>: StagedChange {
  /// What happens to the places.
  enum Structure: Sendable {
    case none
    /// A pending edit is committed: at these places of the committed list, `nil` if they are those at
    /// which it would be carried out now; with the rows that are there.
    case own(ListOperation<T>, ListPlan?, ListEdit<T>)
    /// A pending edit has failed.
    case failed(ListOperation<T>)
    /// Somebody else changed the list.
    case script(ListScript<T>)
    /// The list was read as a whole.
    case whole(Whole)
  }

  /// A list that was read as a whole.
  struct Whole: Sendable {
    var list: LiveList<T>
    /// The rows that stay, or that its own edit brought, and may have other contents than before.
    var updated: [LiveRow]
    /// Whether there is such a collection.
    var isPresent: Bool
    /// How it is told.
    var telling: Telling
    /// The pending edit that was committed with it.
    var operations: [ListOperation<T>]
  }

  /// How a list that was read as a whole is told.
  enum Telling: Sendable {
    case reset
    case difference
    /// Those who asked for it get an answer.
    case nobody
  }

  let collection: LiveCollection<T>
  let context: (any Sendable)?
  let date: Date
  var structure = Structure.none
  /// Rows with new contents, in ascending order.
  var contents: [(row: LiveRow, model: T)] = []
  /// Rows that are gone because their models are deleted.
  var removed: [LiveRow] = []
  private let toldBatch = Locked<BatchCore?>(nil)

  init(_ collection: LiveCollection<T>, _ update: LiveUpdate) {
    self.collection = collection
    context = update.context
    date = update.date
  }

  /// The pending edit that is no longer pending afterwards.
  var operations: [ListOperation<T>] {
    switch structure {
    case .own(let operation, _, _), .failed(let operation): [operation]
    case .whole(let whole): whole.operations
    case .none, .script: []
    }
  }

  var isEmpty: Bool {
    if case .none = structure { return contents.isEmpty && removed.isEmpty }
    return false
  }

  /// The batch that is told behind all members; known when these have been told.
  var batches: [any LiveBatch] { toldBatch.withLock { $0 }.map { [$0] } ?? [] }

  func publish() { collection.publish(self) }

  func deliver() {
    if case .failed = structure { collection.tellTrackers() }
    let batches = collection.tellMembers()
    collection.reportLimits()
    toldBatch.withLock { $0 = batches.first }
    for batch in batches.dropFirst() {
      collection.manager.consistencyManager.deliverer.enqueue { batch.tell() }
    }
  }
}
