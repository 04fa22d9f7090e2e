import PandoLMDB
import PandoModels

extension WriteSession {
  /// How many outdated rows of the change log a flush deletes at least; bounded, so that no flush
  /// pays for a lowered limit.
  private static let trimmedRowCount = 64

  /// Logs the changes of a write, and updates the begin of the log.
  func log(_ changeSet: ChangeSet) throws {
    if state.newestChanges == nil {
      let found = try reading { try $0.storedNewestChanges() }
      try core.checkHistory(found)
      state.newestChanges = found
    }
    // The load of a dump skips numbers.
    if state.newestChanges?.follows(changeSet.commitNumber.value) == false {
      try moveNewestChanges()
    }
    state.newestChanges?.append(changeSet.commitNumber.value, ChangeLog.encode(changeSet))
    state.counters.takeFormat()
    let retention = try retention()
    if retention.keepsRecords { try logRecords(of: changeSet) }
    try shorten(to: retention)
  }

  /// Writes the logged change sets of the flush, and deletes outdated ones.
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

  /// How much of the log is kept; read once per flush.
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

  /// Updates the first commit of the log.
  private func shorten(to retention: ChangeLogRetention) throws {
    let newest = state.counters.commitNumber
    guard newest + 1 - state.counters.oldestChange > retention.commitCount else { return }
    var last = newest - retention.commitCount
    // Commits that a cursor needs stay, if they still exist.
    let needed = try reading { try $0.cursors() }.map(\.position.value)
      .filter { $0 + 1 >= state.counters.oldestChange }.min()
    if let needed, needed < last {
      last = min(last, max(needed, newest - min(newest, retention.cursorCommitCount)))
    }
    state.counters.oldestChange = max(state.counters.oldestChange, last + 1)
  }

  /// Drops the outdated part of the change log; if there is none, the older half of the rest.
  ///
  /// It keeps what a cursor or a replicated store needs.
  ///
  /// - Returns: Whether it dropped commits.
  func halveChangeLog() throws -> Bool {
    var found: UInt64?
    try reading { reader in
      try reader.snapshot.scan(reader.tables.changes) { key, _ in
        found = key.bigEndian(at: 0)
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

  /// Deletes rows of outdated commits.
  private func trimChangeLog(rowCount: Int) throws {
    let oldest = state.counters.oldestChange
    var keys: [[UInt8]] = []
    try reading { reader in
      try reader.snapshot.scan(reader.tables.changes) { key, _ in
        guard let number = key.bigEndian(at: 0), number < oldest else { return false }
        keys.append(Array(copying: key))
        return keys.count < max(rowCount, Self.trimmedRowCount)
      }
    }
    for key in keys { try deleteRow(key.span, in: tables.changes) }
  }
}

extension WriteSession {
  /// Records the last acknowledged commit of a cursor.
  ///
  /// - Throws: ``StoreError`` `noSuchCursor`; `changesExpired` for a missing or foreign commit.
  func acknowledge(_ commitNumber: CommitNumber, cursor name: String) throws {
    let known = try reading { try $0.cursor(named: name) }
    guard let known else { throw StoreError.noSuchCursor(name) }
    let newest = state.counters.commitNumber
    let place = try reading {
      try $0.place(of: commitNumber, newest: newest, for: "cursor \(name)")
    }
    // One that has expired goes on from wherever its consumer has read afresh.
    let isPast = try reading { try $0.isPast(known.position, newest: newest) }
    guard place > known.position.value || !isPast else { return }
    try putCursor(CursorState(name: name, position: commitNumber, date: core.now()))
  }

  /// Creates a cursor if there is none.
  ///
  /// - Returns: Its state.
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
