import PandoLMDB
import PandoModels

extension WriteSession {
  /// How many rows of the change log a flush deletes at least, if so many are no longer kept; none of them
  /// pays for a limit that was lowered.
  private static let trimmedRowCount = 64

  /// Logs what a write has changed, and says what is no longer kept.
  func log(_ changeSet: ChangeSet) throws {
    if state.newestChanges == nil {
      let found = try reading { try $0.storedNewestChanges() }
      try core.checkHistory(found)
      state.newestChanges = found
    }
    // The load of a dump moves the numbers on.
    if state.newestChanges?.follows(changeSet.commitNumber.value) == false {
      try moveNewestChanges()
    }
    state.newestChanges?.append(changeSet.commitNumber.value, ChangeLog.encode(changeSet))
    state.counters.takeFormat()
    let retention = try retention()
    if retention.keepsRecords { try logRecords(of: changeSet) }
    try shorten(to: retention)
  }

  /// Writes what the flush has logged, and deletes what is no longer kept.
  func writeChangeLog() throws {
    guard let newest = state.newestChanges, newest.isChanged else { return }
    if try newest.isLong || retention().keepsRecords { return try moveNewestChanges() }
    let (key, bytes) = (NewestChanges.key, newest.bytes)
    try put(bytes.span, forKey: key.span, in: tables.meta)
  }

  /// Moves the newest change sets to the table.
  private func moveNewestChanges() throws {
    guard let newest = state.newestChanges else { return }
    for (number, range) in zip(newest.first..., newest.ranges)
    where number >= state.counters.oldestChange {
      let changeSet = newest.bytes.span.extracting(range)
      try put(changeSet, forKey: IntegerKey(number).bytes.span, in: tables.changes)
    }
    let key = NewestChanges.key
    if newest.isStored { try deleteRow(key.span, in: tables.meta) }
    state.newestChanges = NewestChanges()
    try trimChangeLog(rowCount: 2 * Int(newest.next - newest.first))
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
    let key = ChangeLogKey.records(changeSet.commitNumber.value)
    try put(bytes.span, forKey: key.span, in: tables.changes)
  }

  /// Says from which commit on the log is kept.
  private func shorten(to retention: ChangeLogRetention) throws {
    let newest = state.counters.commitNumber
    guard newest + 1 - state.counters.oldestChange > retention.commitCount else { return }
    var last = newest - retention.commitCount
    // What a cursor needs stays, if it is still there.
    let needed = try reading { try $0.cursors() }.map(\.position.value)
      .filter { $0 + 1 >= state.counters.oldestChange }.min()
    if let needed, needed < last {
      last = min(last, max(needed, newest - min(newest, retention.cursorCommitCount)))
    }
    state.counters.oldestChange = max(state.counters.oldestChange, last + 1)
  }

  /// Drops what is no longer kept of the change log; if that is nothing, the older half of the rest.
  ///
  /// What a cursor needs stays, and what a replicated store needs.
  ///
  /// - Returns: Whether something was dropped.
  func halveChangeLog() throws -> Bool {
    var found: UInt64?
    try reading { reader in
      try reader.snapshot.scan(reader.tables.changes) { key, _ in
        found = ByteFields.bigEndian(key, at: 0)
        return false
      }
    }
    guard let oldest = found else { return false }
    if oldest >= state.counters.oldestChange {
      if state.counters.isReplicated { return false }
      let needed = try reading { try $0.cursors() }.map { $0.position.value + 1 }.min() ?? .max
      let half = oldest + (state.counters.commitNumber + 1 - oldest) / 2
      state.counters.oldestChange = min(needed, half)
    }
    guard oldest < state.counters.oldestChange else { return false }
    try trimChangeLog(rowCount: .max)
    return true
  }

  /// Deletes rows of commits that are no longer kept.
  private func trimChangeLog(rowCount: Int) throws {
    let oldest = state.counters.oldestChange
    var keys: [[UInt8]] = []
    try reading { reader in
      try reader.snapshot.scan(reader.tables.changes) { key, _ in
        guard let number = ByteFields.bigEndian(key, at: 0), number < oldest else { return false }
        keys.append(Array(copying: key))
        return keys.count < max(rowCount, Self.trimmedRowCount)
      }
    }
    for key in keys { try deleteRow(key.span, in: tables.changes) }
  }
}

extension WriteSession {
  /// Notes up to which commit a cursor has come.
  ///
  /// - Throws: ``StoreError`` `noSuchCursor`; `changesExpired` for a commit that is not there or is of another history.
  func acknowledge(_ commitNumber: CommitNumber, cursor name: String) throws {
    let known = try reading { try $0.cursor(named: name) }
    guard let known else { throw StoreError.noSuchCursor(name) }
    let newest = state.counters.commitNumber
    let place = try reading {
      try $0.place(of: commitNumber, newest: newest, for: "cursor \(name)")
    }
    guard place > known.position.value else { return }
    try putCursor(CursorState(name: name, position: commitNumber, date: core.now()))
  }

  /// Makes a cursor where there is none.
  ///
  /// - Returns: What is known of it now.
  func makeCursor(named name: String, at position: CommitNumber?) throws -> CursorState {
    if let known = try reading({ try $0.cursor(named: name) }) { return known }
    let newest = state.counters.commitNumber
    let place = try reading { reader in
      try reader.number(
        position.map { try reader.place(of: $0, newest: newest, for: "cursor \(name)") } ?? newest)
    }
    let state = CursorState(name: name, position: place, date: core.now())
    try putCursor(state)
    return state
  }

  /// - Returns: Whether there was such a cursor.
  func removeCursor(named name: String) throws -> Bool {
    noteLocalChange()
    let isGone = try deleteRow(CursorState.key(name).span, in: tables.meta)
    if isGone { state.frees = true }
    return isGone
  }

  private func putCursor(_ state: CursorState) throws {
    noteLocalChange()
    let bytes = state.bytes
    try put(bytes.span, forKey: CursorState.key(state.name).span, in: tables.meta)
  }
}
