import PandoModels
public import PandoStore

extension ModelSnapshot {
  /// Returns whether a server has an entity as it is here.
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
  /// - Parameter modelIdentifier: The identifier of the node.
  /// - Returns: The state.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func synchronizationState(of modelIdentifier: String) throws -> SynchronizationState {
    guard try property(QueueNames.mark(modelIdentifier)) != nil else { return .synced }
    return try property(QueueNames.refusal(modelIdentifier)) == nil ? .pending : .refused
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

  /// The identifiers of a namespace whose state it is; for `synced` of those whose state it is not.
  func identifiers(
    notSynchronized namespace: String, as state: SynchronizationState
  ) throws -> [String] {
    var found: [String] = []
    let rows = state == .refused ? QueueNames.refusals : QueueNames.marks
    try forEachProperty(withPrefix: rows + namespace + ":") { name, _ in
      found.append(String(name.dropFirst(rows.count)))
      return true
    }
    guard state == .pending else { return found }
    return try found.filter { try property(QueueNames.refusal($0)) == nil }
  }
}

/// What the row of a queued request says of its place.
private struct WaitingPlace: Decodable {
  let commitNumber: UInt64

  init(from decoder: any Decoder) throws { commitNumber = try decoder.row().get("commitNumber") }
}
