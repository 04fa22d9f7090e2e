import PandoLMDB
import PandoModels
import PandoSystem

extension StoreReader {
  /// How many texts have a word, by the key of that row; 0 without one.
  func wordCount(_ key: [UInt8]) throws -> Int {
    guard let value = try snapshot.bytes(forKey: key.span, in: tables.indexRows) else { return 0 }
    return try Self.count(value, at: 0)
  }

  /// How many texts with words an index has, and how many words they have.
  func documentCounts(of index: StoredIndex) throws -> (documents: Int, words: Int) {
    let key = index.totalsPrefix
    guard let value = try snapshot.bytes(forKey: key.span, in: tables.indexRows) else {
      return (0, 0)
    }
    return (try Self.count(value, at: 0), try Self.count(value, at: 8))
  }

  private static func count(_ value: Span<UInt8>, at start: Int) throws -> Int {
    guard value.count >= start + 8 else {
      throw StoreError.damaged("indexRows", "a number of texts is malformed")
    }
    return (0..<8).reduce(0) { $0 | Int(value[start + $1]) << (8 * $1) }
  }

  /// Calls a closure with the words that begin with bytes, and the number of their texts.
  func forEachWord(
    of index: StoredIndex, from start: [UInt8], _ body: ([UInt8], Int) throws -> Void
  ) throws {
    let prefix = index.totalsPrefix
    let lower = prefix + start
    try snapshot.scan(tables.indexRows, prefix: lower) { key, value in
      // The shortest key has the numbers of all words.
      if key.count > prefix.count {
        try body(
          Array(copying: key.extracting(prefix.count..<key.count)), try Self.count(value, at: 0))
      }
      return true
    }
  }

  /// The numbers by which the relevance for a search is computed, and the words of each of its units.
  func wordCounts(
    of index: StoredIndex, _ search: WordSearch
  ) throws -> (statistics: WordStatistics, words: [[(value: [UInt8], count: Int)]]) {
    var statistics = WordStatistics()
    (statistics.documentCount, statistics.wordCount) = try documentCounts(of: index)
    var all: [[(value: [UInt8], count: Int)]] = []
    for unit in search.units {
      var words: [(value: [UInt8], count: Int)] = []
      if unit.isPrefix {
        try forEachWord(of: index, from: IndexValue.start(ofWordsWithPrefix: unit.bytes.span)) {
          words.append(($0, $1))
        }
      } else {
        let value = IndexValue.bytes(ofWord: unit.bytes.span)
        let count = try wordCount(index.totalsPrefix + value)
        if count > 0 { words.append((value, count)) }
      }
      all.append(words)
      let sum = words.reduce(0) { $0 + $1.count }
      statistics.unitCounts.append(min(sum, statistics.documentCount))
    }
    return (statistics, all)
  }
}

/// The rows of one word of an index, in the order of nodes.
struct WordRows: ~Copyable, ~Escapable {
  private var cursor: Cursor
  private let prefix: [UInt8]
  /// The node of the row at the cursor; `nil` at the end.
  private(set) var node: UInt64?
  private let name: String

  @_lifetime(copy cursor)
  init(_ index: StoredIndex, _ word: [UInt8], from node: UInt64, _ cursor: consuming Cursor) throws
  {
    self.cursor = cursor
    prefix = index.prefix + word
    name = index.name
    self.node = nil
    try seek(node)
  }

  /// The value of the row.
  func row() throws -> WordRow {
    guard let value = cursor.value, let row = WordRow(value) else {
      throw StoreError.damaged("index on \(name)", "the value of a row is malformed")
    }
    return row
  }

  @_lifetime(self: copy self)
  mutating func moveToNext() throws { read(try cursor.moveToNext()) }

  /// Moves to the first row of a node that is not below one.
  @_lifetime(self: copy self)
  mutating func move(toFirstNotBelow target: UInt64) throws {
    // Near rows need no search.
    for _ in 0..<Self.stepCount {
      guard let node, node < target else { return }
      try moveToNext()
    }
    if let node, node < target { try seek(target) }
  }

  private static var stepCount: Int { 6 }

  @_lifetime(self: copy self)
  private mutating func seek(_ target: UInt64) throws {
    var key = prefix
    key.append(bigEndian: target, width: StoredIndex.nodeByteCount)
    read(try cursor.move(toFirstNotBelow: key.span))
  }

  @_lifetime(self: copy self)
  @inline(__always)
  private mutating func read(_ isFound: Bool) {
    guard isFound, let key = cursor.key, key.count == prefix.count + StoredIndex.nodeByteCount,
      key.extracting(0..<prefix.count).hasSameBytes(as: prefix.span)
    else {
      node = nil
      return
    }
    node = StoredIndex.node(ofRow: key)
  }
}
