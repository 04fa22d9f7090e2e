import PandoLMDB
import PandoModels

extension StoreCheckRun {
  /// Every record of a type stands in each of its indexes with its value, and nothing else does.
  mutating func checkIndexes(_ reader: borrowing StoreReader) throws {
    try noting { run in try run.checkRows(of: reader.indexes().values.joined(), reader) }
  }

  private mutating func checkRows(
    of indexes: some Sequence<StoredIndex>, _ reader: borrowing StoreReader
  ) throws {
    var numbers: Set<UInt32> = []
    var rowCount = 0
    for index in indexes.sorted(by: { $0.number < $1.number }) {
      if !numbers.insert(index.number).inserted {
        try note(name(of: index, reader), "its number \(index.number) is taken")
      }
      var found: UInt64 = 0
      try reader.forEachRow(of: index, in: .everything) { key in
        rowCount += 1
        found += 1
        try noting { run in try run.checkRow(key, of: index, reader) }
        return true
      }
      let expected = recordCounts[index.type] ?? 0
      if found != expected {
        try note(name(of: index, reader), "it has \(found) rows for \(expected) records")
      }
    }
    let count = try reader.snapshot.count(of: reader.tables.indexRows)
    if count != rowCount {
      try note("indexes", "\(count - rowCount) rows belong to no index")
    }
  }

  private mutating func checkRow(
    _ key: Span<UInt8>, of index: StoredIndex, _ reader: borrowing StoreReader
  ) throws {
    guard let node = StoredIndex.node(ofRow: key) else {
      return try note(name(of: index, reader), "a row has \(key.count) bytes, too few for a node")
    }
    guard let body = try reader.body(of: RecordKey(type: index.type, node: node)) else {
      return try note(name(of: index, reader), "a row speaks of node \(node), which has no record")
    }
    let expected = index.rowKey(IndexValue(try index.field.value(in: body)), node: node)
    if !key.hasSameBytes(as: expected.span) {
      let identifier = try reader.identifier(of: node)
      try note(name(of: index, reader), "the row of \(identifier) does not show its value")
    }
  }

  private func name(of index: StoredIndex, _ reader: borrowing StoreReader) -> String {
    let type = try? reader.directory.name(ofTypeNumber: index.type, in: reader)
    return "index \(type ?? "type \(index.type)").\(index.field.name)"
  }
}

extension ModelSnapshot {
  /// Checks the indexes alone: what they hold against the records.
  package func indexProblems() throws -> [VerificationReport.Problem] {
    var run = StoreCheckRun(progress: nil)
    try reader.forEachType { run.recordCounts[$1.number] = $1.recordCount }
    try run.checkIndexesAlone(reader)
    return run.report.problems
  }
}
