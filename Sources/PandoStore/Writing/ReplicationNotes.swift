import PandoModels

/// Facts about a write of a replicated store beside its change set and rows, in step order.
struct ReplicationNotes {
  /// The first node number that the write can assign.
  let firstNewNode: UInt64
  /// The elements added to lists, in the order of the steps.
  private(set) var elements: [ByteString: [CollectionElement]] = [:]
  /// Stored nodes that are now asked for.
  var askedFor: [UInt64] = []
  /// The cache keys of lists that the write created.
  var newLists: Set<String> = []
  /// The types whose deletion rules changed.
  var ruledTypes: [String] = []
  /// The indexes that were added or dropped, in order.
  var indexes: [(index: ModelIndex, isAdded: Bool)] = []
  /// Whether rows of this store alone were changed.
  var hasLocalChanges = false
  /// Whether no other commit may come between the snapshot of the write and itself.
  var isWholeStore = false

  init(firstNewNode: UInt64) { self.firstNewNode = firstNewNode }

  mutating func bring(_ elements: [CollectionElement], into cacheKey: String) {
    self.elements[ByteString(cacheKey), default: []] += elements
  }
}

/// A new schema version of a type that the log does not have yet.
struct SchemaNote {
  let typeName: String
  let version: UInt32
  /// The previous version of a migration; `nil` if a program has written the type.
  var migratedFrom: UInt32?
}

extension WriteSession {
  /// Begins to note facts about a write for other stores.
  func beginNotes() { state.notes = ReplicationNotes(firstNewNode: state.counters.nextNode) }

  /// Notes that the write changes rows of this store alone.
  func noteLocalChange() { state.notes?.hasLocalChanges = true }
}
