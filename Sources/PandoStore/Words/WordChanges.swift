import PandoSystem

/// Rows of an index of words that have come or gone and are not stored yet, by word.
///
/// Many rows of one word lie beside each other, so they are put in the order of words at once.
struct WordChanges {
  /// A changed row of a word.
  struct Row {
    let node: UInt64
    /// The value; `nil` for a row that goes.
    let value: WordRow?
    /// 1 for a new row, -1 for one that goes, 0 for another value.
    let difference: Int8
  }

  private var table = WordTable()
  /// The rows of each word of the table, in the order of the changes.
  private var rows: [[Row]] = []
  private(set) var rowCount = 0
  /// How many texts with words have come, and how many words.
  private(set) var documentDifference = 0
  private(set) var wordDifference = 0

  /// As many rows are put before more are collected.
  static let rowCountMaximum = 1 << 24

  /// Notes the change of one text from old words to new ones.
  mutating func note(_ node: UInt64, from old: CountedWords, to new: CountedWords) {
    documentDifference += (new.length > 0 ? 1 : 0) - (old.length > 0 ? 1 : 0)
    wordDifference +=
      min(new.length, WordRow.lengthMaximum) - min(old.length, WordRow.lengthMaximum)
    for word in new.words {
      let value = WordRow(count: word.count, length: new.length)
      let former = old.isEmpty ? nil : old.count(of: new.bytes(of: word))
      if let former, WordRow(count: former, length: old.length) == value { continue }
      add(Row(node: node, value: value, difference: former == nil ? 1 : 0), of: new.bytes(of: word))
    }
    for word in old.words where new.isEmpty || new.count(of: old.bytes(of: word)) == nil {
      add(Row(node: node, value: nil, difference: -1), of: old.bytes(of: word))
    }
  }

  private mutating func add(_ row: Row, of word: Span<UInt8>) {
    let number = table.number(of: word)
    if number == rows.count { rows.append([]) }
    rows[number].append(row)
    rowCount += 1
  }

  /// Calls a closure with each word, in the order of bytes, and its rows in the order of nodes, one for a node.
  func forEach(_ body: (Span<UInt8>, ArraySlice<Row>, _ difference: Int) throws -> Void) rethrows {
    for number in table.numbersInOrder {
      var found = rows[number]
      var difference = 0
      for row in found { difference += Int(row.difference) }
      if !zip(found, found.dropFirst()).allSatisfy({ $0.node < $1.node }) {
        // The last change of a node counts; sorting keeps their order.
        found = found.enumerated().ordered {
          ($0.element.node, $0.offset) < ($1.element.node, $1.offset)
        }
        .map(\.element)
        var last: [Row] = []
        for row in found {
          if last.last?.node == row.node { last.removeLast() }
          last.append(row)
        }
        found = last
      }
      try body(table.bytes(of: number), found[...], difference)
    }
  }
}

/// The different words of a text, and how often each occurs.
struct CountedWords {
  struct Word {
    let start: Int
    let end: Int
    var count: Int
  }

  private var bytes: [UInt8] = []
  private(set) var words: [Word] = []
  /// The number of all words.
  private(set) var length = 0
  /// The places of the words; `nil` for few.
  private var table: WordTable?

  init() {}

  init(_ scanner: WordScanner) {
    bytes = scanner.bytes
    length = scanner.words.count
    words.reserveCapacity(length)
    if length > Self.fewCount {
      var table = WordTable()
      defer { self.table = table }
      for word in scanner.words {
        let number = table.number(of: scanner.bytes(of: word))
        if number < words.count {
          words[number].count += 1
        } else {
          words.append(Word(start: word.start, end: word.end, count: 1))
        }
      }
      return
    }
    for word in scanner.words {
      if let place = place(of: scanner.bytes(of: word)) {
        words[place].count += 1
      } else {
        words.append(Word(start: word.start, end: word.end, count: 1))
      }
    }
  }

  /// Up to so many words are compared with each other.
  private static let fewCount = 32

  var isEmpty: Bool { words.isEmpty }

  @_lifetime(borrow self)
  func bytes(of word: Word) -> Span<UInt8> { bytes.span.extracting(word.start..<word.end) }

  /// How often a word occurs; `nil` if it does not.
  func count(of word: Span<UInt8>) -> Int? { place(of: word).map { words[$0].count } }

  private func place(of word: Span<UInt8>) -> Int? {
    if let table { return table.find(word) }
    return words.firstIndex { bytes(of: $0).hasSameBytes(as: word) }
  }
}

/// Words with a number each, in the order in which they came.
private struct WordTable {
  private var bytes: [UInt8] = []
  /// Where the bytes of each word end.
  private var ends: [Int] = []
  /// The number plus 1 of the word with a hash, or of one before it; 0 for none.
  private var slots: [UInt32] = Array(repeating: 0, count: 64)

  @_lifetime(borrow self)
  func bytes(of number: Int) -> Span<UInt8> {
    bytes.span.extracting((number == 0 ? 0 : ends[number - 1])..<ends[number])
  }

  /// The number of a word; `nil` if it has none.
  func find(_ word: Span<UInt8>) -> Int? {
    var slot = Self.hash(word) & (slots.count - 1)
    while slots[slot] > 0 {
      let number = Int(slots[slot]) - 1
      if bytes(of: number).hasSameBytes(as: word) { return number }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// The number of a word; a new one for a new word.
  mutating func number(of word: Span<UInt8>) -> Int {
    var slot = Self.hash(word) & (slots.count - 1)
    while slots[slot] > 0 {
      let number = Int(slots[slot]) - 1
      if bytes(of: number).hasSameBytes(as: word) { return number }
      slot = (slot + 1) & (slots.count - 1)
    }
    let number = ends.count
    for index in word.indices { bytes.append(word[index]) }
    ends.append(bytes.count)
    slots[slot] = UInt32(ends.count)
    if 2 * ends.count > slots.count { grow() }
    return number
  }

  private mutating func grow() {
    slots = Array(repeating: 0, count: 4 * slots.count)
    for number in ends.indices {
      var slot = Self.hash(bytes(of: number)) & (slots.count - 1)
      while slots[slot] > 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = UInt32(number + 1)
    }
  }

  /// The numbers in the order of the words' bytes.
  var numbersInOrder: [Int] {
    ends.indices.ordered { Self.isLess(bytes(of: $0), bytes(of: $1)) }
  }

  private static func isLess(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    for index in 0..<min(one.count, other.count) where one[index] != other[index] {
      return one[index] < other[index]
    }
    return one.count < other.count
  }

  private static func hash(_ word: Span<UInt8>) -> Int {
    // FNV-1a; words are short.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in word.indices { hash = (hash ^ UInt64(word[index])) &* 0x100_0000_01B3 }
    return Int(truncatingIfNeeded: (hash ^ hash >> 29) & 0x7FFF_FFFF)
  }
}
