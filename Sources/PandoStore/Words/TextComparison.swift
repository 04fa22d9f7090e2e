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

  /// Both: the comparison of a search by words, and of the order ``TextOrder/folded``.
  static let folded: TextComparison = [.caseInsensitive, .diacriticInsensitive]
}

/// How texts are ordered.
///
/// ```swift
/// let byName = Query<Person>(order: [.ascending(\.name, .folded)])
/// ```
public enum TextOrder: Sendable, Hashable {
  /// By the bytes of UTF-8, which is the order of Unicode scalars: `Z` before `a` before `é`.
  case bytes
  /// By letters without case and accents: `Ast`, `Äther`, `Aue`.
  ///
  /// Texts that differ in nothing else are equal. The order of no language is meant: an index keeps its order
  /// on disk, while the collations of system libraries change with their versions. For the order of a
  /// language, store a sort key of your own as a field, and order by that field.
  case folded
}
