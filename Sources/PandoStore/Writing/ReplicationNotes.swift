import PandoModels

/// What a write of a replicated store has done that neither its change set nor its rows tell.
struct ReplicationNotes {
  /// The first node number that the write can give.
  let firstNewNode: UInt64
  /// What came into lists, in the order of the steps that brought it.
  private(set) var elements: [ByteString: [CollectionElement]] = [:]
  /// Stored nodes that have become asked for.
  var askedFor: [UInt64] = []
  /// The cache keys of lists that the write has made.
  var newLists: Set<String> = []
  /// Types whose deletion rules were changed.
  var ruledTypes: [String] = []
  /// Indexes that were made or dropped, in this order.
  var indexes: [(index: ModelIndex, isAdded: Bool)] = []
  /// Whether rows were changed that belong to this store alone.
  var hasLocalChanges = false
  /// Whether no other commit may come between what the write saw and itself.
  var isWholeStore = false

  init(firstNewNode: UInt64) { self.firstNewNode = firstNewNode }

  mutating func bring(_ elements: [CollectionElement], into cacheKey: String) {
    self.elements[ByteString(cacheKey), default: []] += elements
  }
}

/// A schema version that a type has come to, and the log does not have yet.
struct SchemaNote {
  let typeName: String
  let version: UInt32
  /// By a migration from this one; `nil` by a program that has written the type.
  var migratedFrom: UInt32?
}

extension WriteSession {
  /// Begins to note what other stores have to know of a write.
  func beginNotes() { state.notes = ReplicationNotes(firstNewNode: state.counters.nextNode) }

  /// Notes that the write changes rows that belong to this store alone.
  func noteLocalChange() { state.notes?.hasLocalChanges = true }
}
