import PandoLMDB
import PandoModels
import PandoRecords
import PandoSystem

extension StoreCheck {
  /// Checks that every node has its identifier row, and records ordered by type.
  mutating func checkNodes(_ reader: borrowing StoreReader, _ state: StoreState) throws {
    try reader.snapshot.scan(reader.tables.nodes) { key, value in
      try noting { run in
        guard let node = key.bigEndian(at: 0), key.count == 8 else {
          return try run.note("nodes", "a key has \(key.count) bytes instead of 8")
        }
        run.count { $0.nodeCount += 1 }
        let row = try NodeSummary(NodeRow(value, node: node), node: node)
        if node >= state.nextNode {
          try run.note(row.identifier, "its node number \(node) has not been given out")
        }
        if try reader.node(row.identifier) != node {
          try run.note(row.identifier, "its identifier row does not lead back to node \(node)")
        }
        if row.types.isEmpty { try run.note(row.identifier, "it has no record") }
        if row.types != Array(Set(row.types)).ordered() {
          try run.note(row.identifier, "its type numbers are not ascending")
        }
      }
      return true
    }
  }

  /// Checks that every identifier row leads to a node with that identifier.
  mutating func checkIdentifiers(_ reader: borrowing StoreReader) throws {
    let count = try reader.snapshot.count(of: reader.tables.identifiers)
    if count != report.nodeCount {
      try note("identifiers", "\(count) rows for \(report.nodeCount) nodes")
    }
    try reader.snapshot.scan(reader.tables.identifiers) { key, value in
      try noting { run in
        guard let node = value.littleEndian(at: 0) else {
          return try run.note("identifiers", "a row is malformed")
        }
        let row = try reader.requiredSummary(of: node)
        let expected = IdentifierKey(row.identifier)
        let bytes = expected.bytes
        if !key.hasSameBytes(as: bytes.span) {
          try run.note(row.identifier, "another identifier row leads to it too")
        } else if !expected.isLong, value.count != 8 {
          try run.note(row.identifier, "its identifier row has \(value.count) bytes instead of 8")
        }
      }
      return true
    }
  }

  /// Checks that every record has an intact header and a valid body, is listed among its type's
  /// nodes, and has its edges in the dependency index.
  mutating func checkRecords(_ reader: borrowing StoreReader) throws {
    let total = try reader.snapshot.count(of: reader.tables.nodes)
    var nodeCount = 0
    try reader.snapshot.scan(reader.tables.nodes) { key, value in
      nodeCount += 1
      try noting { run in
        guard let node = key.bigEndian(at: 0) else { return }
        let row = try NodeRow(value, node: node)
        let name = try row.identifier(node: node)
        for index in 0..<row.recordCount {
          run.count { $0.recordCount += 1 }
          run.recordCounts[row.type(index), default: 0] += 1
          try run.noting { try $0.checkRecord(index, of: row, node: node, named: name, reader) }
        }
      }
      try reportProgress(.records, nodeCount, of: total)
      return true
    }
  }

  private mutating func checkRecord(
    _ index: Int, of row: borrowing NodeRow, node: UInt64, named name: String,
    _ reader: borrowing StoreReader
  ) throws {
    let key = RecordKey(type: row.type(index), node: node)
    let header = row.header(index)
    let body = row.body(index)
    guard header.matches(body) else {
      throw reader.damagedRecord(key, "its checksum does not fit its bytes")
    }
    if header.commitNumber > report.commitNumber.value + (reader.isCommitted ? 0 : 1) {
      try note(name, "a record has the later commit \(header.commitNumber)")
    }
    do {
      try RecordBody.validate(body)
    } catch {
      throw reader.damagedRecord(key, "\(error)")
    }
    if try reader.typeBlock(TypeBlock.number(of: key))?.contains(node) != true {
      try note(name, "it is missing among the nodes of type number \(key.type)")
    }
    try checkEdges(of: key, RecordBody.edges(in: body), named: name, reader)
  }

  /// Checks that each child of a record or an element exists and has that parent.
  mutating func checkEdges(
    of parent: RecordKey, _ edges: [RecordEdge], named name: String,
    _ reader: borrowing StoreReader
  ) throws {
    let kinds = Dictionary(edges.map { ($0.child.node, $0.kinds) }) { $0.union($1) }
    for (child, kinds) in kinds {
      guard try reader.contains(node: child) else {
        try note(name, "it holds node \(child), which does not exist")
        continue
      }
      let key = ParentKey(child: child, parent: parent)
      let stored = try reader.snapshot.bytes(forKey: key.bytes.span, in: reader.tables.parents)
      if let stored, stored.count == 1, stored[0] == kinds.rawValue {
        count { $0.edgeCount += 1 }
      } else {
        let identifier = try reader.identifier(of: child)
        try note(name, "its edge to \(identifier) is missing or wrong in the dependency index")
      }
    }
  }

  /// Checks that no node contains itself or is nested too deep; runs if the records are intact.
  mutating func checkCycles(_ reader: borrowing StoreReader) throws {
    guard report.isClean, let found = try reader.treeFault() else { return }
    let reason = found.fault == .cycle ? "contains itself" : found.fault.reason
    try note(reader.identifier(of: found.record.node), "it \(reason)")
  }

  /// Checks that the dependency index has no row without an edge.
  mutating func checkIndex(_ reader: borrowing StoreReader) throws {
    let count = try reader.snapshot.count(of: reader.tables.parents)
    try reportProgress(.edges, count, of: count)
    if count != report.edgeCount {
      try note(
        "dependency index", "\(count) rows for \(report.edgeCount) edges of records and collections"
      )
    }
  }

  /// Checks that type numbers are unique, and that counts match the records.
  mutating func checkTypes(_ reader: borrowing StoreReader, _ state: StoreState) throws {
    var seen: Set<UInt32> = []
    try reader.snapshot.scan(reader.tables.types) { key, value in
      try noting { run in
        let name = try key.text("a type name")
        let row = try TypeRow(value, name: name)
        if !seen.insert(row.number).inserted || UInt64(row.number) >= state.nextType {
          try run.note(
            "type \(name)", "its number \(row.number) is taken or has not been given out")
        }
        let found = run.recordCounts[row.number] ?? 0
        let count = reader.pending?.recordCount(ofTypeNamed: name) ?? row.recordCount
        if count != found {
          try run.note("type \(name)", "it counts \(count) records, there are \(found)")
        }
      }
      return true
    }
    for number in recordCounts.keys.ordered() where !seen.contains(number) {
      try note("type number \(number)", "there are records of it but no such type")
    }
  }

  /// Checks that the nodes of each type are those with a record of it.
  mutating func checkTypeBlocks(_ reader: borrowing StoreReader) throws {
    var found: [UInt32: UInt64] = [:]
    try reader.snapshot.scan(reader.tables.nodesByType) { key, value in
      try noting { run in
        guard let number = key.bigEndian(at: 0), key.count == 8 else {
          return try run.note("nodesByType", "a key has \(key.count) bytes instead of 8")
        }
        let type = TypeBlock.type(ofRow: number)
        let count = try TypeBlock(value, type: type).nodes(ofRow: number).count
        found[type, default: 0] += UInt64(count)
      }
      return true
    }
    // Every record was found in its block, so equal counts mean equal nodes.
    for type in Set(found.keys).union(recordCounts.keys).ordered() {
      let (listed, records) = (found[type] ?? 0, recordCounts[type] ?? 0)
      if listed != records {
        try note("type number \(type)", "it lists \(listed) nodes, \(records) have a record of it")
      }
    }
  }

  /// Checks that a change set belongs to the next commit.
  private mutating func checkChange(
    _ number: UInt64?, _ value: Span<UInt8>, _ expected: inout UInt64
  ) throws {
    let next = expected
    expected += 1
    guard number == next else { return try note("change log", "commit \(next) is missing") }
    try noting { run in
      let logged = try ChangeLog.decode(value, number: CommitNumber(value: next)).commitNumber.value
      if logged != next {
        try run.note("change log", "commit \(next) holds the changes of commit \(logged)")
      }
    }
  }

  /// Checks that the change log reaches from its oldest commit to the last one.
  mutating func checkChanges(_ reader: borrowing StoreReader, _ state: StoreState) throws {
    var expected = state.oldestChange
    try reader.snapshot.scan(reader.tables.changes) { key, value in
      if ChangeLogKey.isOfRecords(key) {
        try noting { run in
          guard let number = key.bigEndian(at: 0),
            number + 1 == expected || number < state.oldestChange
          else {
            return try run.note("change log", "records stand behind commit \(expected - 1)")
          }
          _ = try LoggedRecords.decode(value, commitNumber: number)
        }
        return true
      }
      // Rows that are no longer kept are removed gradually.
      if let number = key.bigEndian(at: 0), number < state.oldestChange { return true }
      try checkChange(key.bigEndian(at: 0), value, &expected)
      return true
    }
    try noting { run in
      let newest = try reader.newestChanges()
      for (number, range) in zip(newest.first..., newest.ranges) where number >= state.oldestChange
      {
        try run.checkChange(number, newest.bytes.span.extracting(range), &expected)
      }
    }
    if expected != state.commitNumber + 1 {
      try note(
        "change log", "it ends before commit \(expected), the store is at \(state.commitNumber)")
    }
    try noting { _ in
      _ = try reader.retention()
      _ = try reader.cursors()
    }
  }
}
