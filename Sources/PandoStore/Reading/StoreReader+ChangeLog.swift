import PandoLMDB
public import PandoModels
import PandoRecords

extension ModelSnapshot {
  /// Returns the commits after a version.
  ///
  /// - Parameter commitNumber: The last commit that the caller has; `.zero` for all commits.
  /// - Returns: The change sets of the later commits, in commit order; empty if there are none.
  /// - Throws: ``StoreError`` `changesExpired` if the log no longer reaches back that far, or if
  ///   the commit belongs to another history because the store was restored. Then read the shown
  ///   data again. `damaged` if a row of the log is missing or unreadable.
  /// - Complexity: O(log *n*) and the size of the change sets.
  public func changes(since commitNumber: CommitNumber) throws -> [ChangeSet] {
    let state = try reader.state(path: path)
    let place = try reader.place(of: commitNumber, newest: state?.commitNumber ?? 0)
    guard let state, place < state.commitNumber else { return [] }
    try state.requireChanges(since: place)
    var found: [ChangeSet] = []
    try reader.forEachChangeSet(after: place) {
      found.append($0)
      return true
    }
    return found
  }
}

extension ModelSnapshot {
  /// Calls a closure with the commits after a version, in order; except in the newest one, rejected
  /// lists are only marked as changed.
  ///
  /// - Parameters:
  ///   - commitNumber: The last commit that the caller has.
  ///   - wantsList: Returns whether the changes of a list, by its cache key, are required.
  ///   - body: Receives the change sets one after the other.
  /// - Throws: As ``changes(since:)``, and the error of `body`.
  package func forEachChangeSet(
    since commitNumber: UInt64, wanting wantsList: (ByteString) -> Bool,
    _ body: (ChangeSet) throws -> Void
  ) throws {
    guard let state = try reader.state(path: path), commitNumber < state.commitNumber else {
      return
    }
    try state.requireChanges(since: commitNumber)
    try reader.forEachChange(after: commitNumber) { number, value in
      try body(
        number.value == state.commitNumber
          ? ChangeLog.decode(value, number: number)
          : ChangeLog.decode(value, number: number, wanting: wantsList))
      return true
    }
  }
}

extension StoreState {
  /// Throws if a change log no longer reaches back; the error names the cursor, if given.
  func requireChanges(since commitNumber: UInt64, for cursor: String? = nil) throws {
    guard commitNumber + 1 < oldestChange else { return }
    guard let cursor else {
      throw StoreError(
        .changesExpired, "commit \(commitNumber)",
        "the change log begins at commit \(oldestChange); read the data again, or open the store "
          + "with a larger changeLogLimit")
    }
    throw StoreError(
      .changesExpired, "cursor \(cursor)",
      "commit \(commitNumber + 1) comes next and the change log begins at commit \(oldestChange); "
        + "read the data again and acknowledge the commit that was read, or open the store with a "
        + "larger changeLogLimitForCursors")
  }
}

extension StoreReader {
  /// Calls a closure with the change sets of later commits, in order.
  func forEachChangeSet(
    after commitNumber: UInt64, _ body: (ChangeSet) throws -> Bool
  ) throws {
    try forEachChange(after: commitNumber) { number, value in
      try body(ChangeLog.decode(value, number: number))
    }
  }

  /// The same with encoded change sets.
  fileprivate func forEachChange(
    after commitNumber: UInt64, _ body: (CommitNumber, Span<UInt8>) throws -> Bool
  ) throws {
    let histories = try histories()
    var next = commitNumber + 1
    var goesOn = true
    func pass(_ number: UInt64?, _ value: Span<UInt8>) throws -> Bool {
      guard number == next else {
        throw StoreError.damaged("change log", "commit \(next) is missing")
      }
      next += 1
      goesOn = try body(histories.number(next - 1), value)
      return goesOn
    }
    let start = ChangeLogKey.changeSet(next)
    try snapshot.scan(tables.changes, from: start) { key, value in
      if ChangeLogKey.isOfRecords(key) { return true }
      return try pass(key.bigEndian(at: 0), value)
    }
    if !goesOn { return }
    let newest = try newestChanges()
    for (number, range) in zip(newest.first..., newest.ranges) where number > commitNumber {
      guard try pass(number, newest.bytes.span.extracting(range)) else { return }
    }
  }

  /// The change sets that are not in the table yet.
  func newestChanges() throws -> NewestChanges {
    try pending?.newestChanges ?? storedNewestChanges()
  }

  /// The same as stored before the flush.
  func storedNewestChanges() throws -> NewestChanges {
    let key = NewestChanges.key
    guard let row = try snapshot.bytes(forKey: key.span, in: tables.meta) else {
      return NewestChanges()
    }
    return try NewestChanges(row)
  }

  /// The records that a commit wrote, in their state at that time; `nil` if they are not kept.
  func loggedRecords(of commitNumber: UInt64) throws -> [TreeNode]? {
    let key = ChangeLogKey.records(commitNumber)
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.changes) else { return nil }
    return try LoggedRecords.decode(bytes, commitNumber: commitNumber)
  }

  /// Adds all records of a node, for the change log.
  func addRecords(of identifier: String, to records: inout LoggedRecords) throws {
    guard let node = try node(identifier), let row = try nodeRow(node) else { return }
    for index in 0..<row.recordCount {
      let body = row.body(index)
      let children = try RecordBody.edges(in: body).map { edge in
        (
          edge.child, try self.identifier(of: edge.child.node),
          try directory.name(ofTypeNumber: edge.child.type, in: self)
        )
      }
      records.append(
        identifier: identifier,
        typeName: try directory.name(ofTypeNumber: row.type(index), in: self), body: body,
        children: children)
    }
  }

  /// How much of the change log is kept.
  func retention() throws -> ChangeLogRetention {
    let key = ChangeLogRetention.key
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) else {
      return .standard
    }
    return try ChangeLogRetention(bytes)
  }

  /// The cursor with a name; `nil` if there is none.
  func cursor(named name: String) throws -> CursorState? {
    try CursorState.check(name)
    let key = CursorState.key(name)
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) else { return nil }
    return try CursorState(bytes, name: name, histories())
  }

  /// All cursors, sorted by the bytes of their names.
  func cursors() throws -> [CursorState] {
    var found: [CursorState] = []
    let histories = try histories()
    try snapshot.scan(tables.meta, prefix: CursorState.prefix) { key, value in
      let name = try key.extracting(CursorState.prefix.count...).text("the name of a cursor")
      found.append(try CursorState(value, name: name, histories))
      return true
    }
    return found
  }
}
