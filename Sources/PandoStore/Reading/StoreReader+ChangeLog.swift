import PandoLMDB
public import PandoModels

extension ModelSnapshot {
  /// Returns what was committed after a version.
  ///
  /// - Parameter commitNumber: The last commit that the caller knows; `.zero` for everything.
  /// - Returns: The change sets of the later commits, in commit order; empty if there are none.
  /// - Throws: ``StoreError`` `changesExpired` when the log no longer reaches back that far, or the commit is none of
  ///   this snapshot's past, because the store was restored: read afresh what you show. `damaged` when a row of the log is missing or unreadable.
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
  /// Calls a closure with what was committed after a version, in commit order; of the lists that nobody
  /// wants it is said only that they have changed, but of the newest commit.
  ///
  /// - Parameters:
  ///   - commitNumber: The last commit that the caller knows.
  ///   - wantsList: Whether the changes of the list with a cache key are wanted.
  ///   - body: Gets one change set after another.
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
  /// Refuses to read a change log that no longer reaches back; names the cursor that asks, if one does.
  func requireChanges(since commitNumber: UInt64, for cursor: String? = nil) throws {
    guard commitNumber + 1 < oldestChange else { return }
    guard let cursor else {
      throw StoreError(
        .changesExpired, "commit \(commitNumber)",
        "the change log begins at commit \(oldestChange); read the data afresh, or open the store "
          + "with a larger changeLogLimit")
    }
    throw StoreError(
      .changesExpired, "cursor \(cursor)",
      "commit \(commitNumber + 1) comes next and the change log begins at commit \(oldestChange); "
        + "read the data afresh and acknowledge the commit that was read, or open the store with a "
        + "larger changeLogLimitForCursors")
  }
}

extension StoreReader {
  /// Calls a closure with what the later commits have changed, in commit order.
  func forEachChangeSet(
    after commitNumber: UInt64, _ body: (ChangeSet) throws -> Bool
  ) throws {
    try forEachChange(after: commitNumber) { number, value in
      try body(ChangeLog.decode(value, number: number))
    }
  }

  /// The same with change sets that are not decoded.
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
      return try pass(ByteFields.bigEndian(key, at: 0), value)
    }
    if !goesOn { return }
    let newest = try newestChanges()
    for (number, range) in zip(newest.first..., newest.ranges) where number > commitNumber {
      guard try pass(number, newest.bytes.span.extracting(range)) else { return }
    }
  }

  /// The change sets that are in no table yet.
  func newestChanges() throws -> NewestChanges {
    try pending?.newestChanges ?? storedNewestChanges()
  }

  /// The same, as the flush has found them.
  func storedNewestChanges() throws -> NewestChanges {
    let key = NewestChanges.key
    guard let row = try snapshot.bytes(forKey: key.span, in: tables.meta) else {
      return NewestChanges()
    }
    return try NewestChanges(row)
  }

  /// The records that a commit has written, as they were then; `nil` if they are not kept.
  func loggedRecords(of commitNumber: UInt64) throws -> [TreeNode]? {
    let key = ChangeLogKey.records(commitNumber)
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.changes) else { return nil }
    return try LoggedRecords.decode(bytes, commitNumber: commitNumber)
  }

  /// All records of a node, their children as references; empty if there is no such node.
  func records(of identifier: String) throws -> [TreeNode] {
    guard let node = try node(identifier) else { return [] }
    return try requiredSummary(of: node).types.map {
      try treeNode(RecordKey(type: $0, node: node), depth: 0)
    }
  }

  /// Adds all records of a node as they lie here, for the change log.
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

  /// All cursors, in the order of the bytes of their names.
  func cursors() throws -> [CursorState] {
    var found: [CursorState] = []
    let histories = try histories()
    try snapshot.scan(tables.meta, prefix: CursorState.prefix) { key, value in
      let name = try ByteFields.text(
        key.extracting(CursorState.prefix.count..<key.count), "the name of a cursor")
      found.append(try CursorState(value, name: name, histories))
      return true
    }
    return found
  }
}
