import PandoLMDB
import PandoModels
import PandoRecords
import PandoSystem

extension StoreCheck {
  /// Checks that every collection has its key in both tables, a complete list, and elements that
  /// are in the dependency index.
  mutating func checkCollections(_ reader: borrowing StoreReader, _ state: StoreState) throws {
    let names = try reader.snapshot.count(of: reader.tables.collectionNames)
    let total = try reader.snapshot.count(of: reader.tables.collections)
    if names != total { try note("collections", "\(names) names for \(total) keys") }
    var numbers: Set<UInt64> = []
    try reader.snapshot.scan(reader.tables.collections) { key, value in
      try noting { run in
        let cacheKey = try reader.cacheKey(ofRow: key, value)
        guard let number = value.littleEndian(at: 0), value.count == 8 else {
          return try run.note(cacheKey, "its collection row is malformed")
        }
        run.count { $0.collectionCount += 1 }
        if number >= state.nextCollection || !numbers.insert(number).inserted {
          try run.note(cacheKey, "its number \(number) is taken or has not been given out")
        }
        let name = try reader.cacheKey(ofCollection: number)
        let expected = IdentifierKey(name)
        if !expected.bytes.span.hasSameBytes(as: key), !name.utf8Span.span.hasSameBytes(as: key) {
          try run.note(cacheKey, "its number leads back to another cache key")
        }
        try run.checkElements(of: cacheKey, number, reader)
      }
      try reportProgress(.collections, report.collectionCount, of: total)
      return true
    }
    try checkLooseRows(reader, numbers)
  }

  private mutating func checkElements(
    of cacheKey: String, _ number: UInt64, _ reader: borrowing StoreReader
  ) throws {
    let list = CountedList(table: reader.tables.elements, number: number)
    // The number of occurrences of each node, and the leaf of the last.
    var occurrences: [UInt64: (count: Int, leaf: UInt64)] = [:]
    var leaf = CountedList.rootBlock
    do {
      _ = try list.checkInvariants(in: reader.snapshot)
      let enter: (UInt64, Span<UInt8>, Int) -> Bool = { block, _, _ in
        leaf = block
        return true
      }
      try list.forEach(of: reader.snapshot, where: enter) { _, bytes in
        let element = try CollectionElement(bytes, of: cacheKey)
        if case .value(let body) = element { try RecordBody.validate(body.span) }
        for child in try element.children() {
          occurrences[child] = ((occurrences[child]?.count ?? 0) + 1, leaf)
        }
        count { $0.elementCount += 1 }
        return true
      }
    } catch let error as CountedListError {
      return try note(cacheKey, "\(error)")
    } catch let error as ModelError {
      return try note(cacheKey, "an element can't be read: \(error)")
    }
    for (child, (count, leaf)) in occurrences {
      guard let row = try reader.summary(of: child) else {
        try note(cacheKey, "it lists node \(child), which does not exist")
        continue
      }
      let occurrence = try reader.occurrence(of: child, inCollection: number)
      if occurrence.count != count {
        try note(cacheKey, "the dependency index does not count \(row.identifier) \(count) times")
      } else if let known = occurrence.leaf, known != leaf, leaf != CountedList.rootBlock {
        try note(cacheKey, "the dependency index says another place of \(row.identifier)")
      }
      self.count { $0.edgeCount += 1 }
    }
  }

  /// Checks that no list has rows without a collection.
  private mutating func checkLooseRows(
    _ reader: borrowing StoreReader, _ numbers: Set<UInt64>
  ) throws {
    var last: UInt64?
    try reader.snapshot.scan(reader.tables.elements) { key, _ in
      guard let number = key.bigEndian(at: 0) else {
        try note("elements", "a key has \(key.count) bytes instead of 16")
        return true
      }
      if number != last, !numbers.contains(number) {
        try note("collection \(number)", "it has elements but no cache key")
      }
      last = number
      return true
    }
  }
}

extension StoreCheck {
  /// Checks that each index has exactly the rows of its records' values.
  mutating func checkIndexes(_ reader: borrowing StoreReader) throws {
    try noting { run in try run.checkRows(of: reader.indexes().values.joined(), reader) }
  }

  private mutating func checkRows(
    of indexes: some Sequence<StoredIndex>, _ reader: borrowing StoreReader
  ) throws {
    var numbers: Set<UInt32> = []
    var rowCount = 0
    for index in indexes.ordered(by: { $0.number < $1.number }) {
      if !numbers.insert(index.number).inserted {
        try note(name(of: index, reader), "its number \(index.number) is taken")
      }
      var found: UInt64 = 0
      // The unique rows with the same value bytes as the last one; few, unless it is damaged.
      var group: [UInt8] = []
      var values: Set<[QueryValue]> = []
      try reader.forEachRow(of: index, in: .everything) { key in
        rowCount += 1
        found += 1
        try noting { run in
          // The rows of words are looked up by their records.
          if !index.holdsWords { try run.checkRow(key, of: index, reader) }
          if index.isUnique { try run.checkUnique(key, of: index, &group, &values, reader) }
        }
        return true
      }
      let expected = recordCounts[index.type] ?? 0
      if !index.hasElements, found != expected {
        try note(name(of: index, reader), "it has \(found) rows for \(expected) records")
      }
      rowCount += try checkTotals(of: index, reader)
      if index.hasElements || !index.childTypes.isEmpty {
        rowCount += try checkRecords(of: index, found, reader)
      }
    }
    let count = try reader.snapshot.count(of: reader.tables.indexRows)
    if count != rowCount {
      try note("indexes", "\(count - rowCount) rows belong to no index")
    }
  }

  /// Checks that rows have the numbers of their records, and that each total is that of its members.
  ///
  /// - Returns: The number of totals.
  private mutating func checkTotals(
    of index: StoredIndex, _ reader: borrowing StoreReader
  ) throws -> Int {
    if index.holdsWords { return try checkWords(of: index, reader) }
    let levelCount = try reader.totalLevelCount(of: index)
    if !index.keepsTotals, levelCount > 0 {
      try note(name(of: index, reader), "it has totals and should have none")
    }
    for node in try reader.nodesWithWrongNumbers(of: index) {
      let identifier = try reader.identifier(of: node)
      try note(name(of: index, reader), "the row of \(identifier) does not have its numbers")
    }
    var count = 0
    for level in 0..<levelCount {
      let totals = try reader.totals(above: level, of: index)
      count += totals.count
      if totals.contains(where: { !$0.isRight }) {
        try note(
          name(of: index, reader), "a total of level \(level + 1) is not that of its rows")
      }
    }
    return count
  }

  /// Checks that the rows of words have the counts of their texts, and that the numbers of texts are right.
  ///
  /// - Returns: The number of words, and 1 for the row with the numbers of all.
  private mutating func checkWords(
    of index: StoredIndex, _ reader: borrowing StoreReader
  ) throws -> Int {
    var expected: [[UInt8]: Int] = [:]
    var (documentCount, wordCount) = (0, 0)
    var nodes = try reader.nodes(ofType: index.type)
    while let node = try nodes.next(reader) {
      let body = try reader.countedBody(of: RecordKey(type: index.type, node: node))
      let words = try index.fields[0].countedWords(in: body)
      if words.isEmpty { continue }
      documentCount += 1
      wordCount += min(words.length, WordRow.lengthMaximum)
      for word in words.words {
        let value = IndexValue.bytes(ofWord: words.bytes(of: word))
        expected[value, default: 0] += 1
        let row = WordRow(count: word.count, length: words.length)
        let key = index.rowKey(value, node: node)
        var found: WordRow?
        if let bytes = try reader.snapshot.bytes(forKey: key.span, in: reader.tables.indexRows) {
          found = WordRow(bytes)
        }
        if found != row {
          let identifier = try reader.identifier(of: node)
          try note(name(of: index, reader), "the row of a word of \(identifier) has other counts")
        }
      }
    }
    var found: [[UInt8]: Int] = [:]
    try reader.forEachWord(of: index, from: []) { found[$0] = $1 }
    if found != expected {
      try note(name(of: index, reader), "the numbers of texts of its words are wrong")
    }
    let (documents, words) = try reader.documentCounts(of: index)
    if documents != documentCount || words != wordCount {
      try note(name(of: index, reader), "the number of its texts, or of their words, is wrong")
    }
    return found.count + (documents > 0 ? 1 : 0)
  }

  /// Checks that each record has its rows, and that they are kept separately if other records
  /// contribute to them.
  ///
  /// - Returns: The number of records whose rows are kept.
  private mutating func checkRecords(
    of index: StoredIndex, _ found: UInt64, _ reader: borrowing StoreReader
  ) throws -> Int {
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    var expected: UInt64 = 0
    var kept = 0
    var nodes = try reader.nodes(ofType: index.type)
    while let node = try nodes.next(reader) {
      let body = try reader.countedBody(of: RecordKey(type: index.type, node: node))
      let rows = try index.rows(in: body, source)
      let values = try index.values(of: rows, source)
      expected += UInt64(values.count)
      let bytes = try reader.snapshot.bytes(
        forKey: index.keptKey(node: node).span, in: reader.tables.indexRows)
      if bytes != nil { kept += 1 }
      let isRight =
        rows.isOwn
        ? bytes == nil : bytes?.hasSameBytes(as: StoredIndex.keptBytes(values).span) ?? false
      if !isRight || !Set(rows.childTypes).isSubset(of: index.childTypes) {
        let identifier = try reader.identifier(of: node)
        try note(name(of: index, reader), "what is kept of the rows of \(identifier) is wrong")
      }
    }
    if found != expected {
      try note(name(of: index, reader), "it has \(found) rows instead of \(expected)")
    }
    return kept
  }

  private mutating func checkRow(
    _ key: Span<UInt8>, of index: StoredIndex, _ reader: borrowing StoreReader
  ) throws {
    guard let node = StoredIndex.node(ofRow: key) else {
      return try note(name(of: index, reader), "a row has \(key.count) bytes, too few for a node")
    }
    guard let body = try reader.body(of: RecordKey(type: index.type, node: node)) else {
      return try note(name(of: index, reader), "a row refers to node \(node), which has no record")
    }
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    let value = StoredIndex.value(ofRow: key)
    if try !index.values(in: body, source).contains(where: { value.hasSameBytes(as: $0.bytes.span) }
    ) {
      let identifier = try reader.identifier(of: node)
      try note(name(of: index, reader), "the row of \(identifier) does not show its value")
    }
  }

  /// Checks that a row of a unique index does not have the values of an earlier one.
  private mutating func checkUnique(
    _ key: Span<UInt8>, of index: StoredIndex, _ group: inout [UInt8],
    _ values: inout Set<[QueryValue]>, _ reader: borrowing StoreReader
  ) throws {
    guard let node = StoredIndex.node(ofRow: key),
      let body = try reader.body(of: RecordKey(type: index.type, node: node)),
      let found = try uniqueValues(of: index, in: body, reader)
    else { return }
    let value = StoredIndex.value(ofRow: key)
    if !value.hasSameBytes(as: group.span) {
      group = Array(copying: value)
      values = []
    }
    if !values.insert(found).inserted {
      let identifier = try reader.identifier(of: node)
      try note(
        name(of: index, reader), "it is unique, and \(identifier) has a value of another one")
    }
  }

  private func uniqueValues(
    of index: StoredIndex, in body: Span<UInt8>, _ reader: borrowing StoreReader
  ) throws -> [QueryValue]? {
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    return try index.uniqueValues(in: body, source)
  }

  private func name(of index: StoredIndex, _ reader: borrowing StoreReader) -> String {
    let type = try? reader.directory.name(ofTypeNumber: index.type, in: reader)
    return "index \(type ?? "type \(index.type)").\(index.name)"
  }
}

extension ModelSnapshot {
  /// Checks the indexes alone, against the records.
  package func indexProblems() throws -> [VerificationReport.Problem] {
    var run = StoreCheck(progress: nil)
    try reader.forEachType { run.recordCounts[$1.number] = $1.recordCount }
    try run.checkIndexesAlone(reader)
    return run.report.problems
  }
}
