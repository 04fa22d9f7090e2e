extension ModelStore {
  /// What is committed from now on, or after a commit, by this process and others, as it happens.
  ///
  /// A consumer that has to go on where it stopped, after a restart too, uses a ``ChangeCursor``.
  ///
  /// - Parameters:
  ///   - commitNumber: The last commit that the caller knows; `nil` for the newest one, now.
  ///   - values: Whether each change set comes with its `records`: as the store shows them when
  ///     it is read, or as the commit left them where
  ///     ``StoreConfiguration/changeLogKeepsRecords`` is on.
  /// - Returns: A sequence, which holds the store.
  /// - Note: Costs a thread of the process as long as there is an iterator, also where
  ///   ``StoreConfiguration/followsOtherProcesses`` is off.
  public func changes(since commitNumber: CommitNumber? = nil, values: Bool = false) -> StoreChanges
  {
    let start = Result { try commitNumber ?? read { try $0.commitNumber } }
    return StoreChanges(self, since: start, readsRecords: values)
  }

  /// A cursor of the change log, which is made now if there is none of the name.
  ///
  /// - Parameters:
  ///   - name: A name of 1 to 400 bytes.
  ///   - commitNumber: Behind which commit a new one begins; `nil` for the newest one. One that is there
  ///     stays where it is.
  /// - Returns: The cursor.
  /// - Throws: ``StoreError`` for a bad name, or `readOnly` when the cursor has to be made; `changesExpired` where it would begin
  ///   behind a commit that is not there or is of another history;
  ///   `LMDBError` when the disk refuses.
  /// - Complexity: O(log *n*); a commit where the cursor has to be made.
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
  /// - Returns: What is known of each, in the order of the bytes of their names.
  /// - Throws: ``StoreError`` or `LMDBError` when the store can't be read.
  /// - Complexity: O(log *n* + *c*) for *c* cursors.
  public func cursors() throws -> [CursorState] { try read { try $0.reader.cursors() } }

  /// Removes a cursor, so that the change log keeps nothing for it.
  ///
  /// - Parameter name: Its name.
  /// - Returns: Whether there was one.
  /// - Throws: ``StoreError`` `readOnly`; `LMDBError` when the disk refuses.
  /// - Complexity: O(log *n*), and a commit.
  @discardableResult
  public func removeCursor(named name: String) throws -> Bool {
    try CursorState.check(name)
    return try write { try $0.session.removeCursor(named: name) }
  }

  /// Changes how much of the change log is kept, to more or to less.
  ///
  /// The next opening that asks for more has it.
  ///
  /// - Parameters:
  ///   - commitCount: How many of the newest commits; as it is if `nil`.
  ///   - cursorCommitCount: How many at most for cursors.
  ///   - keepsRecords: Whether with the records. Those there are go when it is turned off.
  /// - Returns: What is kept now.
  /// - Throws: ``StoreError`` `readOnly`; `LMDBError` when the disk refuses.
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
  /// Notes with this write up to which commit a cursor has been worked off.
  ///
  /// What a consumer makes of a change and keeps in the same store is then there exactly once.
  ///
  /// - Parameters:
  ///   - commitNumber: The last commit that is worked off; an earlier one than before changes nothing.
  ///   - name: The name of the cursor.
  /// - Throws: ``StoreError`` `noSuchCursor`; `changesExpired` for a commit that is not there or is of another history.
  /// - Complexity: O(log *n*).
  public mutating func acknowledge(_ commitNumber: CommitNumber, cursor name: String) throws {
    try session.whole { try session.acknowledge(commitNumber, cursor: name) }
  }
}
