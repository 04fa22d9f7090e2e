import PandoModels
public import PandoStore

extension ModelSnapshot {
  /// Returns whether a server has an entity as it is here.
  ///
  /// An identifier under which nothing is stored is `unsynced`; `pending` if its removal waits, `refused` if a server has
  /// refused that.
  ///
  /// ```swift
  /// let state = try store.read { try $0.synchronizationState(of: issue.id) }
  /// ```
  /// - Parameter identifier: The identifier of the entity.
  /// - Returns: The state.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func synchronizationState<E: Entity>(
    of identifier: EntityIdentifier<E>
  ) throws -> SynchronizationState {
    try synchronizationState(of: currentIdentifier(of: identifier).modelIdentifier)
  }

  /// Returns whether a server has a node as it is here.
  ///
  /// - Parameter modelIdentifier: The identifier that the node has now; a local one that a server has replaced is
  ///   `unsynced`.
  /// - Returns: The state.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func synchronizationState(of modelIdentifier: String) throws -> SynchronizationState {
    if try isWaiting(modelIdentifier) {
      return try isRefused(modelIdentifier) ? .refused : .pending
    }
    return try sequenceState(of: modelIdentifier).isDated ? .synced : .unsynced
  }

  /// Whether a write of a node waits for a server, or was refused and is still here.
  func isWaiting(_ modelIdentifier: String) throws -> Bool {
    try property(QueueNames.mark(modelIdentifier)) != nil
  }

  /// Whether something that a server has refused is still here: until that is decided, no answer to others
  /// takes it away.
  func isRefused(_ modelIdentifier: String) throws -> Bool {
    try property(QueueNames.refusal(modelIdentifier)) != nil
  }

  /// The place of the first write that waits for a server; `nil` if none does.
  var firstWaitingPlace: UInt64? {
    get throws {
      var found: UInt64?
      try forEachProperty(withPrefix: QueueNames.waiting) { _, bytes in
        let row = try unsafe bytes.withUnsafeBytes {
          try unsafe RecordDecoder.decodeValue(WaitingPlace.self, from: $0)
        }
        found = SequenceNumber.of(commit: row.commitNumber)
        return false
      }
      return found
    }
  }

  /// The identifiers of the nodes of a type whose state it is.
  func identifiers(
    ofType typeName: String, in namespace: String, synchronized state: SynchronizationState
  ) throws -> [String] {
    let found: [String]
    switch state {
    case .pending, .refused:
      var marked: [String] = []
      let rows = state == .refused ? QueueNames.refusals : QueueNames.marks
      try forEachProperty(withPrefix: rows + namespace + ":") { name, _ in
        marked.append(String(name.dropFirst(rows.count)))
        return true
      }
      found = marked
    case .synced, .unsynced:
      found = try identifiers(ofType: typeName, prefix: namespace + ":")
    }
    return try found.filter { try synchronizationState(of: $0) == state }
  }
}

/// What the row of a queued request says of its place.
private struct WaitingPlace: Decodable {
  let commitNumber: UInt64

  init(from decoder: any Decoder) throws { commitNumber = try decoder.row().get("commitNumber") }
}
