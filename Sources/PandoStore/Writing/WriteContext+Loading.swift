import PandoLMDB
import PandoModels

extension WriteContext {
  func loadType(_ name: String, schemaVersion: UInt32) throws {
    _ = try typeNumber(named: name)
    state.types[ByteString(name)]?.schemaVersion = schemaVersion
    state.typesToWrite.insert(ByteString(name))
  }

  /// Stores a node of a dump with the commit numbers its records had.
  func loadNode(
    _ identifier: String, isAskedFor: Bool, _ records: [DumpLine.Record], line: Int
  ) throws {
    var node: UInt64?
    var types: Set<UInt32> = []
    for record in records {
      let collector = RecordCollector(self, promisesNodes: true)
      let tree = TreeNode(identifier, type: record.typeName, fields: record.fields)
      var encoder = TreeEncoder(sink: collector)
      let key = RecordKey(try encoder.encode(tree))
      if node == nil, try reading({ try $0.contains(node: key.node) }) {
        throw DumpLine.invalid(line, "\(identifier) comes a second time")
      }
      let collected = unsafe collector.pending
      guard collected.records.count == 1, types.insert(key.type).inserted else {
        throw DumpLine.invalid(line, "the records of \(identifier) are not those of one node")
      }
      let pending = collected.records[0]
      if node == nil {
        node = key.node
        try putNode(
          pending, of: collected, isAskedFor: isAskedFor, commitNumber: record.commitNumber)
      } else {
        try putRecord(
          key, body: collected.body(of: pending), replacing: nil,
          edges: collected.edges(of: pending), commitNumber: record.commitNumber)
      }
    }
    guard let node else { throw DumpLine.invalid(line, "\(identifier) has no record") }
    state.changes.insert(node, identifier)
  }

  func loadElements(_ values: [TreeValue], _ cacheKey: String) throws {
    try insert(elements(values), at: nil, inCollection: cacheKey)
  }

  /// Gives the store the commit number of the dump; the load itself is no commit of its own.
  func finishLoad(commitNumber: UInt64) {
    state.counters.commitNumber = commitNumber
    state.counters.oldestChange = commitNumber + 1
    state.changes = ChangeRecorder(firstNewNode: state.counters.nextNode)
  }
}

extension StoreReader {
  /// Calls a closure with identifiers and node numbers in key order.
  func forEachIdentifierRow(_ body: (String, UInt64) throws -> Bool) throws {
    try snapshot.scan(tables.identifiers) { key, value in
      guard let node = ByteFields.littleEndian(value, at: 0, width: 8) else {
        throw StoreError.damaged("identifiers", "a row is malformed")
      }
      let text = value.count > 8 ? value.extracting(8..<value.count) : key
      return try body(Self.text(text, "the identifier of node \(node)"), node)
    }
  }
}
