import PandoLMDB
import PandoModels
import PandoRecords
import PandoSystem

extension StoreReader {
  /// The record from which a node is read as a type: the type's own, else the node's newest.
  ///
  /// - Returns: `nil` if the node has no record.
  func recordKey(node: UInt64, preferring type: UInt32?) throws -> RecordKey? {
    guard let row = try nodeRow(node), let index = row.index(preferring: type) else { return nil }
    return RecordKey(type: row.type(index), node: node)
  }

  /// Whether a node has a record of a type.
  func hasRecord(_ key: RecordKey) throws -> Bool {
    guard let row = try nodeRow(key.node) else { return false }
    return row.index(ofType: key.type) != nil
  }

  /// The header of an existing record.
  func header(of key: RecordKey) throws -> RecordHeader {
    guard let row = try nodeRow(key.node), let index = row.index(ofType: key.type) else {
      throw damagedRecord(key, "it is missing")
    }
    return row.header(index)
  }

  /// The body of a record with a checked checksum; `nil` if there is no such record.
  @_lifetime(copy self)
  func body(of key: RecordKey) throws -> Span<UInt8>? {
    guard let row = try nodeRow(key.node), let index = row.index(ofType: key.type) else {
      return nil
    }
    return try intactBody(index, of: row, node: key.node)
  }

  /// The same with a cursor in the nodes: cheaper for nodes in ascending order.
  @_lifetime(copy cursor)
  func body(of key: RecordKey, at cursor: inout Cursor) throws -> Span<UInt8>? {
    let node = IntegerKey(key.node)
    guard try cursor.move(toFirstNotBelow: node.bytes.span), let found = cursor.key,
      found.hasSameBytes(as: node.bytes.span), let bytes = cursor.value
    else { return nil }
    let row = try NodeRow(bytes, node: key.node)
    guard let index = row.index(ofType: key.type) else { return nil }
    return try intactBody(index, of: row, node: key.node)
  }

  /// The body from which a node is read as a type, found with one search; `nil` if the node has no
  /// record.
  @_lifetime(copy self)
  func body(ofNode node: UInt64, preferring type: UInt32?) throws -> Span<UInt8>? {
    guard let row = try nodeRow(node), let index = row.index(preferring: type) else { return nil }
    return try intactBody(index, of: row, node: node)
  }

  /// The record of a reference; `nil` if the node has none.
  ///
  /// Its bytes live as long as the version of this reader.
  func child(_ reference: RecordReference) throws -> FieldChild? {
    guard let row = try nodeRow(reference.node),
      let index = row.index(preferring: reference.type)
    else { return nil }
    let body = try intactBody(index, of: row, node: reference.node)
    return unsafe FieldChild(type: row.type(index), body: body.withUnsafeBytes { unsafe $0 })
  }

  /// The children of a node, in any of its records.
  func children(of node: UInt64) throws -> [UInt64] {
    var children: Set<UInt64> = []
    for type in try requiredSummary(of: node).types {
      guard let body = try body(of: RecordKey(type: type, node: node)) else { continue }
      for edge in try RecordBody.edges(in: body) { children.insert(edge.child.node) }
    }
    return children.ordered()
  }

  /// All records of a node.
  func children(ofNode node: UInt64) throws -> [FieldChild] {
    guard let row = try nodeRow(node), row.recordCount > 1 else { return [] }
    return try (0..<row.recordCount).map { index in
      let body = try intactBody(index, of: row, node: node)
      return unsafe FieldChild(type: row.type(index), body: body.withUnsafeBytes { unsafe $0 })
    }
  }

  /// All records of a node with the names of its children; empty if there is no such node.
  func namedRecords(of identifier: String) throws -> NodeRecords {
    var records = NodeRecords()
    guard let node = try node(identifier), let row = try nodeRow(node) else { return records }
    for index in 0..<row.recordCount {
      let typeName = try directory.name(ofTypeNumber: row.type(index), in: self)
      try unsafe intactBody(index, of: row, node: node).withUnsafeBytes { body in
        try unsafe records.append(typeName, body) { child in
          let name = try directory.name(ofTypeNumber: child.type, in: self)
          return (try self.identifier(of: child.node), name)
        }
      }
    }
    return records
  }

  @_lifetime(copy row)
  private func intactBody(
    _ index: Int, of row: NodeRow, node: UInt64
  ) throws -> Span<UInt8> {
    let body = row.body(index)
    guard row.header(index).matches(body) else {
      throw damagedChecksum(of: RecordKey(type: row.type(index), node: node))
    }
    return body
  }

  func damagedChecksum(of key: RecordKey) -> StoreError {
    damagedRecord(key, "its checksum does not fit its bytes")
  }

  /// The direct children of a node, without duplicates.
  func childNodes(of node: UInt64) throws -> [UInt64] {
    guard let row = try nodeRow(node) else { return [] }
    var seen: Set<UInt64> = []
    var nodes: [UInt64] = []
    for index in 0..<row.recordCount {
      for edge in try RecordBody.edges(in: intactBody(index, of: row, node: node))
      where seen.insert(edge.child.node).inserted {
        nodes.append(edge.child.node)
      }
    }
    return nodes
  }

  /// The identifiers of all children in a body.
  func children(in body: Span<UInt8>) throws -> QueryValue {
    .elements(
      try RecordBody.edges(in: body).map { .string(try identifier(of: $0.child.node)) })
  }

  /// A copy of the row of a node, for writing a record of it.
  ///
  /// - Returns: An empty list if the stored record has exactly this body; `nil` if there is no row.
  func storedRow(of key: RecordKey, unlessBodyIs body: ArraySlice<UInt8>) throws -> [UInt8]? {
    let node = key.nodeKey
    guard let bytes = try snapshot.bytes(forKey: node.bytes.span, in: tables.nodes) else {
      return nil
    }
    let row = try NodeRow(bytes, node: key.node)
    if let index = row.index(ofType: key.type),
      try intactBody(index, of: row, node: key.node).hasSameBytes(as: body.span)
    {
      return []
    }
    return Array(copying: bytes)
  }

  /// The error of a damaged record, with the names of node and type if readable.
  func damagedRecord(_ key: RecordKey, _ reason: String) -> StoreError {
    let identifier = (try? identifier(of: key.node)) ?? "node \(key.node)"
    let type = (try? directory.name(ofTypeNumber: key.type, in: self)) ?? "type \(key.type)"
    return .damaged(identifier, "the record as \(type) can't be read: \(reason)")
  }
}

extension NodeRow {
  /// The index of the record for a type: the type's own, else the newest.
  func index(preferring type: UInt32?) -> Int? {
    if let type, let own = index(ofType: type) { return own }
    return newestIndex
  }
}

/// A defect of a tree below a record.
enum TreeFault {
  /// A record is its own descendant.
  case cycle
  /// The tree is deeper than allowed.
  case depth

  /// The defect in words, as a predicate of a node.
  var reason: String {
    switch self {
    case .cycle: "would contain itself; a tree of models has no cycles"
    case .depth: "is nested deeper than \(RecordLimits.maximumNodeDepth) levels of nodes"
    }
  }
}

extension StoreReader {
  /// A record that is its own descendant, or whose tree is too deep, if there is one.
  ///
  /// References are followed as in reading: to the record of their own type, or else the node's
  /// newest.
  ///
  /// - Complexity: O(*n* log *n*) for *n* records and references, and memory for *n* keys.
  func treeFault() throws -> (record: RecordKey, fault: TreeFault)? {
    var found: (RecordKey, TreeFault)?
    var known: [RecordKey: Int] = [:]
    try snapshot.scan(tables.nodes) { key, value in
      guard let node = key.bigEndian(at: 0) else { return true }
      for type in try NodeRow(value, node: node).types where found == nil {
        let record = RecordKey(type: type, node: node)
        let way = try longestWay(from: record, &known) { try childRecords(of: $0) }
        if let cycle = way.cycle {
          found = (cycle, .cycle)
        } else if way.count > RecordLimits.maximumNodeDepth {
          found = (record, .depth)
        }
      }
      return found == nil
    }
    return found
  }

  /// The length of the longest path from a record, or a record that a path reaches twice.
  ///
  /// - Parameters:
  ///   - start: The first record of the paths.
  ///   - known: The known lengths, by record.
  ///   - next: Returns the records to which a path continues from one.
  /// - Returns: The length; or the record of a cycle, without a length.
  /// - Throws: The error of `next`.
  /// - Complexity: O(*n*) for *n* records and references without a known length.
  func longestWay(
    from start: RecordKey, _ known: inout [RecordKey: Int],
    _ next: (RecordKey) throws -> [RecordKey]
  ) throws -> (count: Int, cycle: RecordKey?) {
    if let count = known[start] { return (count, nil) }
    // The records on the path, each with its unvisited children and the longest path below it.
    var path = [(record: start, next: try next(start), count: 0)]
    var onPath: Set<RecordKey> = [start]
    var count = 0
    while let last = path.indices.last {
      path[last].count = max(path[last].count, count)
      count = 0
      guard let record = path[last].next.popLast() else {
        let done = path.removeLast()
        onPath.remove(done.record)
        count = done.count + 1
        known[done.record] = count
        continue
      }
      if onPath.contains(record) { return (0, record) }
      if let known = known[record] {
        count = known
        continue
      }
      path.append((record, try next(record), 0))
      onPath.insert(record)
    }
    return (count, nil)
  }

  /// The child records of a record.
  func childRecords(of key: RecordKey) throws -> [RecordKey] {
    guard let body = try body(of: key) else { return [] }
    return try RecordBody.edges(in: body).compactMap { edge in
      try recordKey(node: edge.child.node, preferring: edge.child.type)
    }
  }

  /// The parent records of a record, with references followed as in reading.
  func parentRecords(of key: RecordKey) throws -> [RecordKey] {
    var parents: [RecordKey] = []
    try forEachParent(of: key.node) { parent, _ in
      if !parent.isCollection { parents.append(parent) }
      return true
    }
    guard !parents.isEmpty, try requiredSummary(of: key.node).types.count > 1 else {
      return parents
    }
    // A parent may refer to the node as another type.
    return try parents.filter { try childRecords(of: $0).contains(key) }
  }
}
