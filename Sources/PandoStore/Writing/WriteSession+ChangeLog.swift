import PandoLMDB
import PandoModels

extension WriteSession {
  /// How many rows of the change log a write deletes at most, so that none of them pays for a limit that was
  /// lowered.
  private static let trimmedCommitMaximum = 64

  /// Logs what a write has changed, and deletes what is no longer kept.
  func log(_ changeSet: ChangeSet) throws {
    let key = IntegerKey(changeSet.commitNumber)
    let bytes = ChangeLog.encode(changeSet)
    try put(bytes.span, forKey: key.bytes.span, in: tables.changes)
    let retention = try retention()
    if retention.keepsRecords { try logRecords(of: changeSet) }
    try trimChangeLog(retention)
  }

  /// How much of the log is kept; read once a flush.
  private func retention() throws -> ChangeLogRetention {
    if let known = state.retention { return known }
    var retention = try reading { try $0.retention() }
    if state.counters.isReplicated {
      retention.commitCount = max(
        retention.commitCount, ChangeLogRetention.replicatedCommitCount)
    }
    state.retention = retention
    return retention
  }

  private func logRecords(of changeSet: ChangeSet) throws {
    let nodes = changeSet.inserted + changeSet.updated
    guard !nodes.isEmpty else { return }
    var records = LoggedRecords()
    try reading { reader in
      for node in nodes { try reader.addRecords(of: node, to: &records) }
    }
    let bytes = records.encoded()
    let key = ChangeLogKey.records(changeSet.commitNumber)
    try put(bytes.span, forKey: key.span, in: tables.changes)
  }

  @_optimize(size)
  private func trimChangeLog(_ retention: ChangeLogRetention) throws {
    let newest = state.counters.commitNumber
    guard newest + 1 - state.counters.oldestChange > retention.commitCount else { return }
    var last = newest - retention.commitCount
    // What a cursor needs stays, if it is still there.
    let needed = try reading { try $0.cursors() }.map(\.position)
      .filter { $0 + 1 >= state.counters.oldestChange }.min()
    if let needed, needed < last {
      last = min(last, max(needed, newest - min(newest, retention.cursorCommitCount)))
    }
    for _ in 0..<Self.trimmedCommitMaximum where state.counters.oldestChange <= last {
      let number = state.counters.oldestChange
      try deleteRow(ChangeLogKey.changeSet(number).span, in: tables.changes)
      if retention.keepsRecords {
        try deleteRow(ChangeLogKey.records(number).span, in: tables.changes)
      }
      state.counters.oldestChange += 1
    }
  }
}

extension WriteSession {
  /// Notes up to which commit a cursor has come.
  ///
  /// - Throws: ``StoreError`` `noSuchCursor`; `indexOutOfRange` for a commit that is not there yet.
  func acknowledge(_ commitNumber: UInt64, cursor name: String) throws {
    let known = try reading { try $0.cursor(named: name) }
    guard let known else { throw StoreError.noSuchCursor(name) }
    guard commitNumber <= state.counters.commitNumber else {
      throw StoreError(
        .indexOutOfRange, "cursor \(name)",
        "it can't acknowledge commit \(commitNumber), the newest is \(state.counters.commitNumber)")
    }
    guard commitNumber > known.position else { return }
    try putCursor(CursorState(name: name, position: commitNumber, date: core.now()))
  }

  /// Makes a cursor where there is none.
  ///
  /// - Returns: What is known of it now.
  func makeCursor(named name: String, at position: UInt64?) throws -> CursorState {
    if let known = try reading({ try $0.cursor(named: name) }) { return known }
    let newest = state.counters.commitNumber
    let state = CursorState(name: name, position: min(position ?? newest, newest), date: core.now())
    try putCursor(state)
    return state
  }

  /// - Returns: Whether there was such a cursor.
  func removeCursor(named name: String) throws -> Bool {
    noteLocalChange()
    return try deleteRow(CursorState.key(name).span, in: tables.meta)
  }

  private func putCursor(_ state: CursorState) throws {
    noteLocalChange()
    let bytes = state.bytes
    try put(bytes.span, forKey: CursorState.key(state.name).span, in: tables.meta)
  }
}
