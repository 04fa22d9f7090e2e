import PandoLMDB
import PandoModels
import PandoSystem

/// Indexes of words.
///
/// The rows that a write changes are collected, and put in the order of words before a read and at the end of a
/// flush, with the number of texts of each word.
extension WriteSession {
  /// Notes the words that a record has got or lost.
  func changeWords(
    of index: StoredIndex, _ key: RecordKey, from old: [UInt8]?, to new: ArraySlice<UInt8>?
  ) throws {
    let path = index.fields[0]
    if let old, let new, path.hasSameTexts(old.span, new.span) { return }
    let before = try old.map { try path.countedWords(in: $0.span) } ?? CountedWords()
    let after = try new.map { try path.countedWords(in: $0.span) } ?? CountedWords()
    if before.isEmpty, after.isEmpty { return }
    state.wordChanges[index.number, default: WordChanges()].note(
      key.node, from: before, to: after)
    if state.wordChanges[index.number]?.rowCount ?? 0 >= WordChanges.rowCountMaximum {
      try settleWords()
    }
  }

  /// Collects the words of all records of an index without rows.
  func makeWords(of index: StoredIndex) throws {
    state.wordChanges[index.number] = nil
    let path = index.fields[0]
    var changes = WordChanges()
    let nothing = CountedWords()
    var scanner = WordScanner()
    var last: UInt64 = 0
    repeat {
      try reading { reader in
        var nodes = try reader.nodes(ofType: index.type, from: last + 1)
        last = 0
        while let node = try nodes.next(reader) {
          let body = try reader.countedBody(of: RecordKey(type: index.type, node: node))
          try path.scan(body, &scanner)
          if !scanner.words.isEmpty { changes.note(node, from: nothing, to: CountedWords(scanner)) }
          if changes.rowCount >= WordChanges.rowCountMaximum {
            last = node
            break
          }
        }
      }
      try put(changes, of: index)
      changes = WordChanges()
    } while last > 0
  }

  /// Puts the collected rows.
  func settleWords() throws {
    if state.wordChanges.isEmpty { return }
    for (number, changes) in exchange(&state.wordChanges, with: [:]) {
      let indexes = state.indexes?.values.first { $0.contains { $0.number == number } }
      guard let index = indexes?.first(where: { $0.number == number }) else { continue }
      try put(changes, of: index)
    }
  }

  /// The rows that are put together.
  private static var batchCount: Int { 4096 }

  private func put(_ changes: WordChanges, of index: StoredIndex) throws {
    let prefix = index.prefix
    let nothing: [UInt8] = []
    var batch = (gone: EntryBatch(), come: EntryBatch(), count: 0)
    func flush() throws {
      if batch.count == 0 { return }
      try withTransaction { transaction in
        try transaction.delete(batch.gone, in: tables.indexRows)
        try transaction.put(batch.come, in: tables.indexRows)
      }
      batch = (EntryBatch(), EntryBatch(), 0)
    }
    var counts: [(word: [UInt8], difference: Int)] = []
    try changes.forEach { word, rows, difference in
      let value = IndexValue.bytes(ofWord: word)
      for row in rows {
        let node = IntegerKey(row.node)
        let place = node.bytes.span.extracting((8 - StoredIndex.nodeByteCount)..<8)
        if let row = row.value {
          let bytes = row.bytes
          batch.come.append(prefix.span, value.span, place, value: bytes.span)
        } else {
          batch.gone.append(prefix.span, value.span, place, value: nothing.span)
        }
        batch.count += 1
        if batch.count == Self.batchCount { try flush() }
      }
      if difference != 0 { counts.append((value, difference)) }
    }
    try flush()
    for (value, difference) in counts {
      let key = index.totalsPrefix + value
      let count = try reading { try $0.wordCount(key) } + difference
      guard count >= 0 else {
        throw StoreError.damaged("index on \(index.name)", "a word has fewer than no texts")
      }
      if count == 0 {
        try deleteRow(key.span, in: tables.indexRows)
      } else {
        try put([UInt8](littleEndian: UInt64(count)).span, forKey: key.span, in: tables.indexRows)
      }
    }
    try change(
      index.totalsPrefix, changes.documentDifference, changes.wordDifference, index)
  }

  /// Changes the number of texts with words, and of all words.
  private func change(
    _ key: [UInt8], _ documents: Int, _ words: Int, _ index: StoredIndex
  ) throws {
    if documents == 0, words == 0 { return }
    let (documentCount, wordCount) = try reading { try $0.documentCounts(of: index) }
    var value = [UInt8](littleEndian: UInt64(max(0, documentCount + documents)))
    value.append(littleEndian: UInt64(max(0, wordCount + words)))
    if documentCount + documents == 0 {
      try deleteRow(key.span, in: tables.indexRows)
    } else {
      try put(value.span, forKey: key.span, in: tables.indexRows)
    }
  }
}
