@_spi(_Unicode) import Swift

/// Folds texts, scalar by scalar: leaves out what a comparison ignores.
///
/// A scalar is decomposed canonically, its accents are left out, and its case is folded: it becomes the
/// lower-case mapping of its upper-case mapping. Rows of indexes have folded texts, so a change of these rules
/// needs another ``FieldReading``. Unicode keeps decompositions and case foldings of assigned scalars stable.
struct TextFolding: Sendable {
  /// The role of a scalar in a text of words.
  enum Role: UInt8, Sendable {
    /// Ends a word.
    case separator
    /// Part of a word: a letter or a number.
    case letter
    /// Continues a word.
    case mark
    /// A word of its own: scripts without spaces between words.
    case single
    /// Left out, without an end of the word.
    case ignored
  }

  /// The options of the folding.
  let options: TextComparison
  /// Where the folded bytes of each scalar below ``tableCount`` begin in ``bytes``; one more for the end.
  private let starts: [UInt16]
  private let bytes: [UInt8]
  private let roles: [Role]

  /// Scalars of alphabets, for which looking up properties takes too long.
  private static let tableCount: UInt32 = 0x2000

  private init(_ options: TextComparison) {
    self.options = options
    var starts: [UInt16] = []
    var bytes: [UInt8] = []
    var roles: [Role] = []
    for value in 0..<Self.tableCount {
      starts.append(UInt16(bytes.count))
      guard let scalar = Unicode.Scalar(value) else { continue }
      Self.appendFolded(scalar, options, to: &bytes)
      roles.append(Self.role(scalar))
    }
    starts.append(UInt16(bytes.count))
    self.starts = starts
    self.bytes = bytes
    self.roles = roles
  }

  /// Without case and accents.
  static let whole = TextFolding(.folded)
  private static let ofCase = TextFolding(.caseInsensitive)
  private static let ofDiacritics = TextFolding(.diacriticInsensitive)

  /// The folding of options; `nil` without one.
  static func of(_ options: TextComparison) -> TextFolding? {
    switch (options.contains(.caseInsensitive), options.contains(.diacriticInsensitive)) {
    case (true, true): whole
    case (true, false): ofCase
    case (false, true): ofDiacritics
    case (false, false): nil
    }
  }

  /// A text folded.
  func folded(_ text: String) -> String {
    var text = text
    var bytes: [UInt8] = []
    text.withUTF8 { utf8 in
      bytes.reserveCapacity(utf8.count)
      unsafe append(Span(_unsafeElements: utf8), to: &bytes)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends a text folded.
  func append(_ text: Span<UInt8>, to result: inout [UInt8]) {
    let foldsCase = options.contains(.caseInsensitive)
    var place = 0
    while place < text.count {
      let byte = text[place]
      if byte < 0x80 {
        result.append(foldsCase ? Self.lowercased(byte) : byte)
        place += 1
        continue
      }
      let (scalar, end) = Self.scalar(in: text, at: place)
      append(scalar, to: &result)
      place = end
    }
  }

  /// Appends the folded bytes of a scalar, possibly none.
  func append(_ scalar: Unicode.Scalar, to result: inout [UInt8]) {
    guard scalar.value < Self.tableCount else {
      return Self.appendFolded(scalar, options, to: &result)
    }
    let place = Int(scalar.value)
    result.append(contentsOf: bytes[Int(starts[place])..<Int(starts[place + 1])])
  }

  /// The role of a scalar in a text of words.
  func role(of scalar: Unicode.Scalar) -> Role {
    scalar.value < Self.tableCount ? roles[Int(scalar.value)] : Self.role(scalar)
  }

  /// The lower-case letter of an ASCII letter; other bytes stay.
  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }

  /// The scalar at a byte that is not ASCII, and its end; a malformed one is U+FFFD.
  static func scalar(in text: Span<UInt8>, at place: Int) -> (Unicode.Scalar, end: Int) {
    let first = text[place]
    let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    guard first >= 0xC2, place + count <= text.count else { return ("\u{FFFD}", place + 1) }
    var value = UInt32(first) & (count == 2 ? 0x1F : count == 3 ? 0x0F : 0x07)
    for index in place + 1..<place + count {
      guard text[index] & 0xC0 == 0x80 else { return ("\u{FFFD}", place + 1) }
      value = value << 6 | UInt32(text[index] & 0x3F)
    }
    return (Unicode.Scalar(value) ?? "\u{FFFD}", place + count)
  }
}

extension TextFolding {
  private static func appendFolded(
    _ scalar: Unicode.Scalar, _ options: TextComparison, to bytes: inout [UInt8]
  ) {
    if isUnchanged(scalar.value) { return bytes.append(contentsOf: Array(String(scalar).utf8)) }
    let ignoresAccents = options.contains(.diacriticInsensitive)
    for part in ignoresAccents ? decomposed(String(scalar)) : [scalar] {
      if ignoresAccents, isAccent(part) { continue }
      let parts = options.contains(.caseInsensitive) ? caseFolded(part) : [part]
      for part in parts where !(ignoresAccents && isAccent(part)) {
        bytes.append(contentsOf: Array(String(part).utf8))
      }
    }
  }

  /// Ideographs, which have neither case nor accents, nor a decomposition.
  private static func isUnchanged(_ value: UInt32) -> Bool {
    (0x3400...0x9FFF).contains(value) || (0x20000...0x2F7FF).contains(value)
  }

  private static func decomposed(_ text: String) -> [Unicode.Scalar] { Array(text._nfd) }

  private static func caseFolded(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
    // The letter without a dot is not the upper-case I of other languages.
    if scalar == "ı" { return [scalar] }
    let upper = scalar.properties.uppercaseMapping.unicodeScalars
    return upper.flatMap { Array($0.properties.lowercaseMapping.unicodeScalars) }
  }

  /// Whether a scalar is an accent: a mark above, below or through a letter that leaves the letter what it is.
  ///
  /// By its canonical combining class: 10 to 36 are points of Hebrew, Arabic and Syriac, 200 and above marks
  /// at a place. Between and below are marks of Indic scripts, Thai, Lao, Tibetan and kana.
  private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
    let combiningClass = scalar.properties.canonicalCombiningClass.rawValue
    return combiningClass >= 200 || (10...36).contains(combiningClass)
  }

  private static func role(_ scalar: Unicode.Scalar) -> Role {
    if isUnchanged(scalar.value) { return .single }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .decimalNumber, .letterNumber,
      .otherNumber:
      return .letter
    case .modifierLetter, .otherLetter: return isSingle(scalar.value) ? .single : .letter
    case .nonspacingMark, .spacingMark, .enclosingMark: return .mark
    // A zero-width space separates words.
    case .format: return scalar.value == 0x200B ? .separator : .ignored
    default: return .separator
    }
  }

  /// Letters of Thai, Lao, Myanmar, Khmer, Hiragana, and the ideographs outside the main ranges.
  private static func isSingle(_ value: UInt32) -> Bool {
    switch value {
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x2E80...0x2FDF, 0x3005...0x3007,
      0x3041...0x309F, 0xF900...0xFAFF, 0x2F800...0x3FFFF:
      true
    default: false
    }
  }
}
