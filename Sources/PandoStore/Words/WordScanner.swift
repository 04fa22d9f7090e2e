/// Divides texts into words, which are folded.
///
/// A word is a longest sequence of letters, numbers and marks; everything else separates words, `'`, `-` and
/// `_` included. Each letter of Thai, Lao, Khmer, Myanmar, of Hiragana, and each ideograph is a word of its own,
/// because these scripts have no spaces between words. Of a word the first ``byteCountMaximum`` bytes count.
/// The words of an index are stored, so a change of these rules needs another ``FieldReading``.
struct WordScanner {
  /// A found word.
  struct Word {
    /// Where its folded bytes are in ``WordScanner/bytes``.
    var start: Int
    var end: Int
    /// Its place among all words; a gap lies between the texts.
    var place: Int
    /// Whether nothing separates it from the word before it.
    var isAdjacent: Bool
    /// Its bytes in the text.
    var source: Range<Int>
  }

  /// The most bytes of a folded word that count.
  static let byteCountMaximum = 64

  /// The folded words, one after another.
  private(set) var bytes: [UInt8] = []
  private(set) var words: [Word] = []
  /// The place of the next word.
  private var place = 0
  /// Whether the word at the end continues.
  private var isOpen = false
  /// Where the bytes of the word at the end begin.
  private var openStart = 0
  /// Whether further bytes of the word at the end do not count.
  private var isFull = false
  private let folding = TextFolding.whole

  init() {}

  /// Removes all words; keeps the room.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    words.removeAll(keepingCapacity: true)
    place = 0
  }

  /// The folded bytes of a word.
  @_lifetime(borrow self)
  func bytes(of word: Word) -> Span<UInt8> { bytes.span.extracting(word.start..<word.end) }

  /// Whether a word, or its beginning, has these bytes.
  func holds(_ word: Word, _ other: [UInt8], isPrefix: Bool) -> Bool {
    let count = word.end - word.start
    guard isPrefix ? count >= other.count : count == other.count else { return false }
    for index in other.indices where bytes[word.start + index] != other[index] { return false }
    return true
  }

  mutating func scan(_ text: String) {
    var text = text
    text.withUTF8 { unsafe scan(Span(_unsafeElements: $0)) }
  }

  /// Finds the words of a text in UTF-8.
  mutating func scan(_ text: Span<UInt8>) {
    if !words.isEmpty { place += 1 }
    var index = 0
    isOpen = false
    // Where the last word ended, if only ignored scalars followed.
    var lastEnd = -1
    while index < text.count {
      let byte = text[index]
      if byte < 0x80 {
        if Self.isWordByte(byte) {
          if !isOpen { open(at: index, isAdjacent: lastEnd == index) }
          while index < text.count, Self.isWordByte(text[index]) {
            append(TextFolding.lowercased(text[index]))
            index += 1
          }
          if index == text.count { close(at: index) }
        } else {
          if isOpen { close(at: index) }
          index += 1
        }
        continue
      }
      let (scalar, end) = TextFolding.scalar(in: text, at: index)
      switch folding.role(of: scalar) {
      case .separator: if isOpen { close(at: index) }
      case .ignored: if !isOpen, lastEnd == index { lastEnd = end }
      case .mark:
        if isOpen {
          append(scalar)
        } else if lastEnd == index, !words.isEmpty {
          // A mark on a letter that is a word of its own.
          append(scalar)
          words[words.count - 1].end = bytes.count
          words[words.count - 1].source = words[words.count - 1].source.lowerBound..<end
          lastEnd = end
        }
      case .letter:
        if !isOpen { open(at: index, isAdjacent: lastEnd == index) }
        append(scalar)
      case .single:
        let isAdjacent = isOpen || lastEnd == index
        if isOpen { close(at: index) }
        open(at: index, isAdjacent: isAdjacent)
        append(scalar)
        close(at: end)
        lastEnd = end
      }
      index = end
      if isOpen, index == text.count { close(at: index) }
    }
  }

  /// Whether an ASCII byte is a letter or a digit.
  @inline(__always)
  private static func isWordByte(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
  }

  private mutating func open(at index: Int, isAdjacent: Bool) {
    words.append(
      Word(
        start: bytes.count, end: bytes.count, place: place, isAdjacent: isAdjacent,
        source: index..<index))
    openStart = bytes.count
    isOpen = true
    isFull = false
  }

  @inline(__always)
  private mutating func append(_ byte: UInt8) {
    if isFull { return }
    if bytes.count - openStart == Self.byteCountMaximum {
      isFull = true
    } else {
      bytes.append(byte)
    }
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    if isFull { return }
    let end = bytes.count
    folding.append(scalar, to: &bytes)
    if bytes.count - openStart > Self.byteCountMaximum {
      bytes.removeLast(bytes.count - end)
      isFull = true
    }
  }

  /// Ends the open word; one without bytes was none.
  private mutating func close(at index: Int) {
    isOpen = false
    var word = words.removeLast()
    guard bytes.count > word.start else { return }
    word.end = bytes.count
    word.source = word.source.lowerBound..<index
    words.append(word)
    place += 1
  }
}
