extension ModelStore {
  /// The commits of all processes, from now on or after a given one, as they happen.
  ///
  /// ```swift
  /// for try await change in store.changes(since: last) {
  ///   print(change.commitNumber, change.updated)
  /// }
  /// ```
  ///
  /// Each commit comes once and in order, however slow the consumer is. The sequence ends when the
  /// store is closed or the task is cancelled. It throws ``StoreError`` `changesExpired` if the change
  /// log no longer reaches back to the last returned commit, or if that belongs to another history.
  /// Then read all data again, and begin after that snapshot.
  ///
  /// A consumer that must continue after a restart uses a ``ChangeCursor``.
  ///
  /// - Parameters:
  ///   - commitNumber: The last commit that the caller has; `nil` for the newest one.
  ///   - values: Whether each change set comes with its `records`: in their state at the time of
  ///     reading, or as the commit left them if ``StoreConfiguration/changeLogKeepsRecords`` is on.
  /// - Returns: A sequence, which retains the store. Any task may iterate; iterators are independent.
  /// - Note: Uses a thread of the process while an iterator exists, also if
  ///   ``StoreConfiguration/followsOtherProcesses`` is off.
  public func changes(
    since commitNumber: CommitNumber? = nil, values: Bool = false
  ) -> some AsyncSequence<ChangeSet, any Error> & Sendable {
    let start = Result { try commitNumber ?? read { try $0.commitNumber } }
    return StoreChanges(self, since: start, readsRecords: values)
  }

  /// Returns the cursor of a name; creates it if there is none.
  ///
  /// - Parameters:
  ///   - name: A name of 1 to 400 bytes.
  ///   - commitNumber: The commit after which a new cursor begins; `nil` for the newest one. An
  ///     existing cursor keeps its place.
  /// - Returns: The cursor.
  /// - Throws: ``StoreError`` for a bad name; `readOnly` if the cursor must be created;
  ///   `changesExpired` if it would begin after a commit that does not exist or belongs to another
  ///   history; `LMDBError` if the disk fails.
  /// - Complexity: O(log *n*); a commit if it must be created.
  public func cursor(
    named name: String, startingAfter commitNumber: CommitNumber? = nil
  ) throws -> ChangeCursor {
    let known = try read { try $0.reader.cursor(named: name) }
    if known == nil {
      try write { try $0.session.makeCursor(named: name, at: commitNumber) }
    }
    return ChangeCursor(store: self, name: name)
  }

  /// All cursors of the store.
  ///
  /// - Returns: The state of each, sorted by the bytes of their names.
  /// - Throws: ``StoreError`` or `LMDBError` if the store can't be read.
  /// - Complexity: O(log *n* + *c*) for *c* cursors.
  public func cursors() throws -> [CursorState] { try read { try $0.reader.cursors() } }

  /// Removes a cursor; the change log then keeps nothing for it.
  ///
  /// - Parameter name: Its name.
  /// - Returns: Whether there was one.
  /// - Throws: ``StoreError`` `readOnly`; `LMDBError` if the disk fails.
  /// - Complexity: O(log *n*), and a commit.
  @discardableResult
  public func removeCursor(named name: String) throws -> Bool {
    try CursorState.check(name)
    return try write { try $0.session.removeCursor(named: name) }
  }

  /// Changes how much of the change log is kept, to more or less.
  ///
  /// An opening whose configuration requires more raises it again.
  ///
  /// - Parameters:
  ///   - commitCount: How many of the newest commits to keep; unchanged if `nil`.
  ///   - cursorCommitCount: The most commits to keep for cursors.
  ///   - keepsRecords: Whether to keep the records. Turning it off removes the kept ones.
  /// - Returns: The retention after the call.
  /// - Throws: ``StoreError`` `readOnly`; `LMDBError` if the disk fails.
  package func setRetention(
    commitCount: UInt64? = nil, cursorCommitCount: UInt64? = nil, keepsRecords: Bool? = nil
  ) throws -> (commitCount: UInt64, cursorCommitCount: UInt64, keepsRecords: Bool) {
    if commitCount != nil || cursorCommitCount != nil || keepsRecords != nil {
      guard !isReadOnly else {
        throw StoreError(.readOnly, path, "the store was opened for reading only")
      }
      try core.changeRetention { retention in
        if let commitCount { retention.commitCount = max(commitCount, 1) }
        if let cursorCommitCount { retention.cursorCommitCount = cursorCommitCount }
        if let keepsRecords { retention.keepsRecords = keepsRecords }
      }
    }
    let kept = try core.read { try $0.retention() }
    return (kept.commitCount, kept.cursorCommitCount, kept.keepsRecords)
  }
}

extension ModelTransaction {
  /// Acknowledges all commits up to one, as a part of this write.
  ///
  /// If a consumer keeps derived data in the same store, each change takes effect exactly once.
  ///
  /// - Parameters:
  ///   - commitNumber: The last processed commit; an earlier one than before has no effect.
  ///   - name: The name of the cursor.
  /// - Throws: ``StoreError`` `noSuchCursor`; `changesExpired` for a missing or foreign commit.
  /// - Complexity: O(log *n*).
  public mutating func acknowledge(_ commitNumber: CommitNumber, cursor name: String) throws {
    try session.whole { try session.acknowledge(commitNumber, cursor: name) }
  }
}
