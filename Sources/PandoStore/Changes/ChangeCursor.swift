/// A named place in the change log, from which a consumer (an indexer, an audit log) continues
/// after a restart.
///
/// ```swift
/// let cursor = try store.cursor(named: "mailer")
/// for try await change in cursor.changes(values: true) {
///   try await mail(change.records)
///   try await cursor.acknowledge(change.commitNumber)
/// }
/// ```
/// Changes without an acknowledgement come again after a restart. The change log keeps what a
/// cursor still needs, up to ``StoreConfiguration/changeLogLimitForCursors`` commits. Beyond that,
/// the sequence throws `changesExpired`. Then rebuild the derived data from one snapshot, and
/// acknowledge the number of that snapshot.
///
/// - Note: Any thread and any process. One consumer at a time uses a name: the log keeps no
///   acknowledged change for a second one.
public struct ChangeCursor: Sendable {
  private let store: ModelStore
  /// The name of the cursor.
  public let name: String

  init(store: ModelStore, name: String) {
    self.store = store
    self.name = name
  }

  /// Its state: the last acknowledged commit, and when that was.
  ///
  /// - Throws: ``StoreError`` `noSuchCursor` if it was removed; the errors of reading.
  public var state: CursorState {
    get throws {
      guard let state = try store.read({ try $0.reader.cursor(named: name) }) else {
        throw StoreError.noSuchCursor(name)
      }
      return state
    }
  }

  /// The commits after the last acknowledged one, and later ones as they happen.
  ///
  /// - Parameter values: As in ``ModelStore/changes(since:values:)``.
  /// - Returns: A sequence, as that of ``ModelStore/changes(since:values:)``; each call begins at the
  ///   acknowledged commit.
  public func changes(
    values: Bool = false
  ) -> some AsyncSequence<ChangeSet, any Error> & Sendable {
    StoreChanges(
      store, since: Result { try state.position }, readsRecords: values, cursor: name)
  }

  /// Acknowledges all commits up to one, and waits until that is committed.
  ///
  /// - Parameter commitNumber: The last processed commit; an earlier one than before has no effect.
  /// - Throws: ``StoreError`` `noSuchCursor`, `readOnly`, or `changesExpired` for a commit that
  ///   does not exist or belongs to another history; `LMDBError` if the disk fails.
  /// - Complexity: O(log *n*), and a commit.
  public func acknowledge(_ commitNumber: CommitNumber) throws {
    try store.write { try $0.acknowledge(commitNumber, cursor: name) }
  }

  /// Acknowledges all commits up to one, without blocking a thread.
  ///
  /// - Parameter commitNumber: The last processed commit.
  /// - Throws: Same as the synchronous form.
  /// - Complexity: O(log *n*), and a commit.
  public func acknowledge(_ commitNumber: CommitNumber) async throws {
    let name = name
    try await store.write { try $0.acknowledge(commitNumber, cursor: name) }
  }
}
