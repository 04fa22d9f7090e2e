import PandoLMDB
import PandoModels

extension StoreReader {
  /// The record that shows a node as a type: the type's own, else the node's newest.
  ///
  /// - Returns: `nil` if the node has no record at all.
  func recordKey(node: UInt64, preferring type: UInt32?) throws -> RecordKey? {
    guard let row = try nodeRow(node), let index = row.index(preferring: type) else { return nil }
    return RecordKey(type: row.type(index), node: node)
  }

  /// Whether a node has a record of a type.
  func hasRecord(_ key: RecordKey) throws -> Bool {
    guard let row = try nodeRow(key.node) else { return false }
    return row.index(ofType: key.type) != nil
  }

  /// The header of a record that must be there.
  func header(of key: RecordKey) throws -> RecordHeader {
    guard let row = try nodeRow(key.node), let index = row.index(ofType: key.type) else {
      throw damagedRecord(key, "it is missing")
    }
    return row.header(index)
  }

  /// The body of a record, its checksum checked; `nil` if there is no such record.
  @_lifetime(copy self)
  func body(of key: RecordKey) throws -> Span<UInt8>? {
    guard let row = try nodeRow(key.node), let index = row.index(ofType: key.type) else {
      return nil
    }
    return try intactBody(index, of: row, node: key.node)
  }

  /// The body of the record that shows a node as a type, found with one search; `nil` if the node has
  /// no record at all.
  @_lifetime(copy self)
  func body(ofNode node: UInt64, preferring type: UInt32?) throws -> Span<UInt8>? {
    guard let row = try nodeRow(node), let index = row.index(preferring: type) else { return nil }
    return try intactBody(index, of: row, node: node)
  }

  /// The record that a reference leads to; `nil` if the node has none.
  ///
  /// Its bytes live as long as the version that is read.
  func child(_ reference: RecordReference) throws -> FieldChild? {
    guard let row = try nodeRow(reference.node),
      let index = row.index(preferring: reference.type)
    else { return nil }
    let body = try intactBody(index, of: row, node: reference.node)
    return unsafe FieldChild(type: row.type(index), body: body.withUnsafeBytes { unsafe $0 })
  }

  @_lifetime(copy row)
  private func intactBody(
    _ index: Int, of row: NodeRow, node: UInt64
  ) throws -> Span<UInt8> {
    let body = row.body(index)
    guard row.header(index).matches(body) else {
      throw damagedRecord(
        RecordKey(type: row.type(index), node: node), "its checksum does not fit its bytes")
    }
    return body
  }

  /// The identifiers of all children in a body.
  func children(in body: Span<UInt8>) throws -> QueryValue {
    .elements(
      try RecordBody.edges(in: body).map { .string(try identifier(of: $0.child.node)) })
  }

  /// Whether a record is stored with exactly this body.
  func body(of key: RecordKey, equals body: ArraySlice<UInt8>) throws -> Bool {
    guard let stored = try self.body(of: key) else { return false }
    return stored.hasSameBytes(as: body.span)
  }

  /// The error for a damaged record, which names the node and the type as well as it can.
  func damagedRecord(_ key: RecordKey, _ reason: String) -> StoreError {
    let identifier = (try? identifier(of: key.node)) ?? "node \(key.node)"
    let type = (try? directory.name(ofTypeNumber: key.type, in: self)) ?? "type \(key.type)"
    return .damaged(identifier, "the record as \(type) can't be read: \(reason)")
  }
}

extension NodeRow {
  /// Which record shows the node as a type: the type's own, else the newest.
  func index(preferring type: UInt32?) -> Int? {
    if let type, let own = index(ofType: type) { return own }
    return newestIndex
  }
}

extension StoreReader {
  /// A record that can be reached from itself, if there is one.
  ///
  /// References are followed as reading follows them: to the record of their own type, else to the
  /// node's newest.
  ///
  /// - Complexity: O(*n* log *n*) for *n* records and references, and memory for *n* keys.
  func recordInCycle() throws -> RecordKey? {
    var found: RecordKey?
    var done: Set<RecordKey> = []
    try snapshot.scan(tables.nodes) { key, value in
      guard let node = ByteFields.bigEndian(key, at: 0) else { return true }
      for type in try NodeRow(value, node: node).types where found == nil {
        found = try recordInCycle(from: RecordKey(type: type, node: node), &done)
      }
      return found == nil
    }
    return found
  }

  /// Goes down from one record, past those that are done with.
  private func recordInCycle(
    from start: RecordKey, _ done: inout Set<RecordKey>
  ) throws -> RecordKey? {
    guard !done.contains(start) else { return nil }
    // The records on the way down, each with the children that have not been looked at.
    var path = [(record: start, children: try childRecords(of: start))]
    var onPath: Set<RecordKey> = [start]
    while let last = path.indices.last {
      guard let next = path[last].children.popLast() else {
        let record = path.removeLast().record
        onPath.remove(record)
        done.insert(record)
        continue
      }
      if onPath.contains(next) { return next }
      guard !done.contains(next) else { continue }
      path.append((next, try childRecords(of: next)))
      onPath.insert(next)
    }
    return nil
  }

  private func childRecords(of key: RecordKey) throws -> [RecordKey] {
    guard let body = try body(of: key) else { return [] }
    return try RecordBody.edges(in: body).compactMap { edge in
      try recordKey(node: edge.child.node, preferring: edge.child.type)
    }
  }
}
