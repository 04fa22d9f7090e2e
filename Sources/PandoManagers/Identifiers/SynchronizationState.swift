import PandoModels
public import PandoStore

extension ModelSnapshot {
  /// Returns whether a server has the stored value of an entity.
  ///
  /// The state of a removed entity is `pending` while its removal waits, `refused` after a server has refused
  /// it, and else `unsynced`.
  ///
  /// ```swift
  /// let state = try store.read { try $0.synchronizationState(of: issue.id) }
  /// ```
  /// - Parameter identifier: The identifier of the entity.
  /// - Returns: The state.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func synchronizationState<E: Entity>(
    of identifier: EntityIdentifier<E>
  ) throws -> SynchronizationState {
    try synchronizationState(of: currentIdentifier(of: identifier).modelIdentifier)
  }

  /// Returns whether a server has the stored value of a node.
  ///
  /// - Parameter modelIdentifier: The present identifier of the node; one that a server has replaced is
  ///   `unsynced`.
  /// - Returns: The state.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func synchronizationState(of modelIdentifier: String) throws -> SynchronizationState {
    if try isWaiting(modelIdentifier) {
      return try isRefused(modelIdentifier) ? .refused : .pending
    }
    return try sequenceState(of: modelIdentifier).isDated ? .synced : .unsynced
  }

  /// Whether a write of a node waits for a server or for a decision about a refusal.
  func isWaiting(_ modelIdentifier: String) throws -> Bool {
    try property(QueueNames.mark(modelIdentifier)) != nil
  }

  /// Whether the node has a refused change; until a decision, no answer to another request overwrites it.
  func isRefused(_ modelIdentifier: String) throws -> Bool {
    try property(QueueNames.refusal(modelIdentifier)) != nil
  }

  /// The sequence number of the first write that waits for a server; `nil` if none does.
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

  /// The identifiers of a type's nodes with a synchronization state.
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

/// The sequence number in the row of a queued request.
private struct WaitingPlace: Decodable {
  let commitNumber: UInt64

  init(from decoder: any Decoder) throws { commitNumber = try decoder.row().get("commitNumber") }
}
