import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

/// What an update does to the committed elements of a collection.
struct StagedList<T: SimpleModel>: StagedChange {
  /// What happens to the places.
  indirect enum Structure: Sendable {
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
    /// A member's pause has ended.
    case resumed(UInt64)
  }

  /// A list that was read as a whole, or that several edits have led to.
  struct Whole: Sendable {
    var list: LiveList<T>
    /// The rows that stay, or that its own edit brought, and may have other contents than before.
    var updated: [LiveRow]
    /// The rows whose contents are what its own edit has asked for.
    var asAsked: Set<LiveRow> = []
    /// Whether there is such a collection.
    var isPresent: Bool
    /// Whether what is stored was read.
    var isRead = true
    /// How it is told.
    var telling: Telling
    /// The pending edits that were committed with it.
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
  /// What it does to the stored elements, where they are kept apart; `nil` if nothing.
  var stored: StoredChange<T>?
  /// Whether it was carried out in the stored list where nobody has expected it.
  var isStoredElsewhere = false
  /// Whether the element that the committed edit is about has gone.
  var isGone = false
  /// Rows that are gone because their models are deleted.
  var removed: [LiveRow] = []
  private let told = Locked(Told())

  /// What is known when it is published, and when it is delivered.
  private struct Told {
    var number: UInt64 = 0
    var batches: [BatchCore] = []
  }

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
    case .none, .script, .resumed: []
    }
  }

  var isEmpty: Bool {
    if case .none = structure { return contents.isEmpty && removed.isEmpty && stored == nil }
    return false
  }

  /// The batches that are told behind all members; known when these have been told.
  var batches: [any LiveBatch] { told.withLock { $0.batches } }

  func publish() {
    let number = collection.publish(self)
    told.withLock { $0.number = number }
  }

  func deliver() {
    if case .failed = structure { collection.tellTrackers() }
    let batches = collection.tellUpdate(told.withLock { $0.number })
    collection.reportLimits()
    if !batches.isEmpty { told.withLock { $0.batches = batches } }
  }
}

/// What an update does to the stored elements of a collection.
struct StoredChange<T: SimpleModel>: Sendable {
  /// What is stored from now on; `nil` if that is what is committed.
  var rows: StoredRows<T>?
}
