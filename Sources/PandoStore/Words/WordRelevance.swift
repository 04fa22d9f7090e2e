import PandoSystem

/// How many texts an index of words has, and how many of them have each word of a search.
struct WordStatistics: Equatable {
  /// The number of texts with at least one word.
  var documentCount = 0
  /// The number of all their words.
  var wordCount = 0
  /// For each unit of a search the number of texts that have it.
  ///
  /// For a prefix, the sum over the words that begin with it, at most ``documentCount``.
  var unitCounts: [Int] = []

  /// Counts the words of a text.
  mutating func count(_ words: WordScanner, _ search: WordSearch) {
    if words.words.isEmpty { return }
    documentCount += 1
    wordCount += min(words.words.count, WordRow.lengthMaximum)
    for (unit, wanted) in search.units.enumerated() {
      var found: Set<[UInt8]> = []
      for word in words.words where words.holds(word, wanted.bytes, isPrefix: wanted.isPrefix) {
        found.insert(Array(copying: words.bytes(of: word)))
      }
      unitCounts[unit] += found.count
    }
  }
}

/// The relevance of a text for a search: the BM25 of its words.
///
/// For each unit of the search that occurs *f* times in a text of *l* words, with *n* of *N* texts having it:
/// ln(1 + (*N* − *n* + 0.5) / (*n* + 0.5)) · *f* · 2.2 / (*f* + 1.2 · (0.25 + 0.75 · *l* / average *l*)).
/// Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", with the logarithm of
/// Lucene, which is never below 0.
struct WordRelevance {
  private let weights: [Double]
  private let averageLength: Double

  init(_ statistics: WordStatistics) {
    let total = Double(statistics.documentCount)
    weights = statistics.unitCounts.map { count in
      let count = Double(min(count, statistics.documentCount))
      return log(1 + (total - count + 0.5) / (count + 0.5))
    }
    averageLength = max(1, Double(statistics.wordCount)) / max(1, total)
  }

  /// The summand of a unit that occurs `count` times in a text of `length` words, in units of 2⁻³².
  ///
  /// A whole number, so that the order of the summands does not matter.
  @inline(__always)
  func part(ofUnit unit: Int, count: Int, length: Int) -> Int {
    if count == 0 { return 0 }
    let count = Double(min(count, WordRow.countMaximum))
    let length = Double(min(length, WordRow.lengthMaximum))
    let norm = 1.2 * (0.25 + 0.75 * length / averageLength)
    return Int((weights[unit] * count * 2.2 / (count + norm) * 0x1p32).rounded())
  }

  /// The relevance of a text by the counts of its units.
  func value(_ counts: [Int], length: Int) -> Int {
    var sum = 0
    for (unit, count) in counts.enumerated() {
      sum += part(ofUnit: unit, count: count, length: length)
    }
    return sum
  }
}

/// The value of a row in an index of words: how often the word occurs, and how many words the text has.
///
/// ```
/// count (1), at most 255; number of words of the text (2), at most 65535      little-endian
/// ```
struct WordRow: Hashable {
  private let countByte: UInt8
  private let lengthBits: UInt16

  var count: Int { Int(countByte) }
  var length: Int { Int(lengthBits) }

  static let countMaximum = Int(UInt8.max)
  static let lengthMaximum = Int(UInt16.max)
  static let byteCount = 3

  init(count: Int, length: Int) {
    countByte = UInt8(clamping: count)
    lengthBits = UInt16(clamping: length)
  }

  /// Reads a value; `nil` if it has another length.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.init(count: Int(bytes[0]), length: Int(bytes[1]) | Int(bytes[2]) << 8)
  }

  var bytes: InlineArray<3, UInt8> {
    [countByte, UInt8(truncatingIfNeeded: lengthBits), UInt8(lengthBits >> 8)]
  }
}
