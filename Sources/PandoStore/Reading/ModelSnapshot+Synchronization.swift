import PandoModels
import PandoRecords

extension ModelSnapshot {
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

  /// Whether a write of a node waits for a server, or was refused and the node still contains it.
  package func isWaiting(_ modelIdentifier: String) throws -> Bool {
    try property(QueueNames.mark(modelIdentifier)) != nil
  }

  /// Whether the node contains a write that a server has refused: until the program decides about it, no answer
  /// to another request removes it.
  package func isRefused(_ modelIdentifier: String) throws -> Bool {
    try property(QueueNames.refusal(modelIdentifier)) != nil
  }

  /// The sequence number of the first write that waits for a server; `nil` if none does.
  package var firstWaitingPlace: UInt64? {
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
    ofType typeName: String, prefix: String, synchronized state: SynchronizationState
  ) throws -> [String] {
    let found: [String]
    switch state {
    case .pending, .refused:
      var marked: [String] = []
      let rows = state == .refused ? QueueNames.refusals : QueueNames.marks
      try forEachProperty(withPrefix: rows + prefix) { name, _ in
        marked.append(String(name.dropFirst(rows.count)))
        return true
      }
      found = marked
    case .synced, .unsynced:
      found = try identifiers(ofType: typeName, prefix: prefix)
    }
    return try found.filter { try synchronizationState(of: $0) == state }
  }
}

/// The sequence number in the row of a queued request.
private struct WaitingPlace: Decodable {
  let commitNumber: UInt64
}
