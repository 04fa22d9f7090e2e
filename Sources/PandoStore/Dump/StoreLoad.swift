import PandoLMDB
import PandoModels
import PandoRecords

/// Loads the lines of a dump.
///
/// A record may refer to a node of a later line. Such a node gets its number at the first
/// reference, and none may be missing at the end.
struct StoreLoad {
  private let session: WriteSession
  private var report = (nodeCount: 0, collectionCount: 0)
  private var commitNumber: UInt64?
  private var isComplete = false

  init(_ session: WriteSession) { self.session = session }

  mutating func run(_ nextLine: () throws -> String?) throws -> (
    nodeCount: Int, collectionCount: Int
  ) {
    try requireEmptyStore()
    var number = 0
    while let text = try nextLine() {
      number += 1
      if text.isEmpty { continue }
      guard !isComplete else { throw DumpLine.invalid(number, "it comes after the last line") }
      do {
        try take(DumpLine(text, number: number), number)
      } catch let error as JSONError {
        throw DumpLine.invalid(number, "column \(error.column): \(error.reason)")
      } catch let error as ModelError {
        throw DumpLine.invalid(number, "\(error)")
      } catch let error as StoreError where error.code == .noSuchNode {
        throw DumpLine.invalid(number, "\(error)")
      }
    }
    guard isComplete, let commitNumber else {
      throw DumpLine.invalid(number, "the dump ends here, before its last line; it is incomplete")
    }
    try requirePromisedNodes()
    try refuseTreeFaults()
    try session.finishLoad(commitNumber: commitNumber)
    return report
  }

  private func requireEmptyStore() throws {
    guard session.state.notes == nil else {
      throw StoreError(
        .replicated, session.core.path,
        "the store is replicated; load the dump into a store before it gets its log")
    }
    let isEmpty = try session.reading { reader in
      let tables = reader.tables
      return try reader.snapshot.count(of: tables.nodes) == 0
        && reader.snapshot.count(of: tables.collections) == 0
    }
    // A store whose content was removed still has its commit numbers and its change log.
    guard isEmpty, session.state.counters.commitNumber == 0 else {
      throw StoreError(
        .invalidDump, session.core.path,
        "the store is not new; a dump is loaded into a store without any commit")
    }
  }

  private mutating func take(_ line: DumpLine, _ number: Int) throws {
    if case .header(let commit) = line {
      guard commitNumber == nil else { throw DumpLine.invalid(number, "it is a second first line") }
      commitNumber = commit
      return
    }
    guard let commitNumber else {
      throw DumpLine.invalid(number, "it is not the first line of a dump")
    }
    switch line {
    case .header: break
    case .type(let name, let version, let indexes, let newestVersion):
      try session.loadType(name, schemaVersion: version)
      if let newestVersion {
        let bytes = SchemaRow.bytes(newestVersion)
        try session.put(
          bytes.span, forKey: SchemaRow.key(name).span, in: session.tables.meta)
      }
      for index in indexes {
        _ = try session.addIndex(
          on: index.paths(), ofTypeNamed: name, isUnique: index.isUnique,
          sums: index.sumPaths())
      }
    case .rules(let name, let text):
      let rules = try DeletionRules(Array(text.utf8).span, typeName: name)
      try session.setDeletionRules(rules, ofTypeNamed: name)
    case .property(let name, let value):
      let key = try PropertyKey(name)
      try session.put(value.span, forKey: key.bytes.span, in: session.tables.meta)
    case .node(let identifier, let isAskedFor, let records):
      for record in records where record.commitNumber > commitNumber {
        throw DumpLine.invalid(
          number, "a record of \(identifier) is newer than commit \(commitNumber) of the dump")
      }
      try session.loadNode(identifier, isAskedFor: isAskedFor, records, line: number)
      report.nodeCount += 1
    case .collection(let cacheKey, let elements, let continues):
      try requirePromisedNodes()  // node lines come first
      let exists = try session.reading { try $0.collection(cacheKey) } != nil
      guard exists == continues else {
        throw DumpLine.invalid(
          number, "the lines of collection \(cacheKey) do not follow one another")
      }
      try session.loadElements(elements, cacheKey)
      if !continues { report.collectionCount += 1 }
    case .end(let nodeCount, let collectionCount):
      guard nodeCount == report.nodeCount, collectionCount == report.collectionCount else {
        throw DumpLine.invalid(
          number,
          "the dump had \(nodeCount) nodes and \(collectionCount) collections, "
            + "\(report.nodeCount) and \(report.collectionCount) came")
      }
      isComplete = true
    }
  }

  private func refuseTreeFaults() throws {
    try session.reading { reader in
      guard let found = try reader.treeFault() else { return }
      throw StoreError(
        .invalidDump, try reader.identifier(of: found.record.node),
        "\(found.fault.reason); nothing was loaded")
    }
  }

  private func requirePromisedNodes() throws {
    try session.reading { reader in
      let tables = reader.tables
      guard
        try reader.snapshot.count(of: tables.identifiers)
          != reader.snapshot.count(of: tables.nodes)
      else { return }
      try reader.forEachIdentifier { node, identifier in
        guard try !reader.contains(node: node) else { return true }
        throw StoreError(
          .invalidDump, try identifier.text("the identifier of node \(node)"),
          "a record refers to it, but no line contains it; "
            + "nothing was loaded")
      }
    }
  }
}

extension WriteSession {
  func loadType(_ name: String, schemaVersion: UInt32) throws {
    _ = try typeNumber(named: name)
    state.types.change(name) { $0.schemaVersion = schemaVersion }
  }

  /// Stores a node of a dump with the commit numbers of its records.
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

  /// Sets the commit number of the dump; the load itself is no separate commit.
  func finishLoad(commitNumber: UInt64) throws {
    state.counters.commitNumber = commitNumber
    state.counters.oldestChange = commitNumber + 1
    // Commit numbers of the other store must not match this one.
    try put(Histories(all: Histories.newMark()))
    state.changes = ChangeRecorder(firstNewNode: state.counters.nextNode)
  }
}
