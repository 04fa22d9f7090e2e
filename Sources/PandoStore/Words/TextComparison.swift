/// The differences that a comparison of texts ignores.
///
/// ```swift
/// let found = Query(filter: .contains(\Book.title, "dune", .caseInsensitive))
/// ```
/// Without an option texts are compared byte by byte.
public struct TextComparison: OptionSet, Hashable, Sendable {
  /// The bits of the options.
  public let rawValue: UInt8

  /// Makes options from bits.
  ///
  /// - Parameter rawValue: The bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Letters that differ in case are equal, by the full case folding of Unicode: `ß` equals `SS`.
  ///
  /// No language is taken into account, so `I` equals `i` and not `ı`.
  public static let caseInsensitive = TextComparison(rawValue: 1)

  /// Letters that differ in accents are equal, and so is a letter in composed and decomposed form.
  ///
  /// The text is decomposed canonically, and accents of Latin, Greek, Cyrillic, Hebrew, Arabic and Syriac
  /// letters are left out. Signs that make another letter stay, as those of kana, Thai and Indic scripts.
  public static let diacriticInsensitive = TextComparison(rawValue: 2)

  /// Both: the comparison of a search by words, and of the order by ``QueryField/folded(_:)``.
  static let folded: TextComparison = [.caseInsensitive, .diacriticInsensitive]
}
