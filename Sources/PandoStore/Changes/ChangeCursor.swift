/// A named place in the change log, at which a consumer goes on after a restart: an indexer, an audit log, a
/// mailer.
///
/// ```swift
/// let cursor = try store.cursor(named: "mailer")
/// for try await change in cursor.changes(values: true) {
///   try await mail(change.records)
///   try await cursor.acknowledge(change.commitNumber)
/// }
/// ```
/// What was not acknowledged comes again after a restart. The change log keeps what a cursor still needs, up
/// to ``StoreConfiguration/changeLogLimitForCursors`` commits; beyond that its sequence throws `changesExpired`.
/// Then read afresh what it is made from, in one snapshot, and acknowledge the number of that snapshot.
///
/// - Note: Any thread and any process. One consumer at a time goes by a name: what one has acknowledged the
///   log need not keep for another.
public struct ChangeCursor: Sendable {
  private let store: ModelStore
  /// The name of the cursor.
  public let name: String

  init(store: ModelStore, name: String) {
    self.store = store
    self.name = name
  }

  /// What is known of it: the commit up to which it has acknowledged, and when.
  ///
  /// - Throws: ``StoreError`` `noSuchCursor` when it was removed; what reading throws.
  public var state: CursorState {
    get throws {
      guard let state = try store.read({ try $0.reader.cursor(named: name) }) else {
        throw StoreError.noSuchCursor(name)
      }
      return state
    }
  }

  /// What was committed since the last commit that it has acknowledged, and what comes.
  ///
  /// - Parameter values: As in ``ModelStore/changes(since:values:)``.
  /// - Returns: A sequence that goes on there; each call begins anew.
  public func changes(values: Bool = false) -> StoreChanges {
    StoreChanges(
      store, since: Result { try state.position }, readsRecords: values, cursor: name)
  }

  /// Notes up to which commit it has been worked off, and waits until that is committed.
  ///
  /// - Parameter commitNumber: The last commit that is worked off; an earlier one than before changes
  ///   nothing.
  /// - Throws: ``StoreError`` `noSuchCursor`, `readOnly`, or `changesExpired` for a commit that is not
  ///   there or is of another history; `LMDBError` when the disk refuses.
  /// - Complexity: O(log *n*), and a commit.
  public func acknowledge(_ commitNumber: CommitNumber) throws {
    try store.write { try $0.acknowledge(commitNumber, cursor: name) }
  }

  /// Notes up to which commit it has been worked off, without blocking a thread.
  ///
  /// - Parameter commitNumber: The last commit that is worked off.
  /// - Throws: As the synchronous form.
  /// - Complexity: O(log *n*), and a commit.
  public func acknowledge(_ commitNumber: CommitNumber) async throws {
    let name = name
    try await store.write { try $0.acknowledge(commitNumber, cursor: name) }
  }
}
