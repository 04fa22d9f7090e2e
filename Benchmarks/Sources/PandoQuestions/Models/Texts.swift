import Foundation

/// The texts of the models, few enough that values are often equal, and what the sides need to know of them.
enum Texts {
  /// Words that differ in case, in accents, and in how an accent is coded.
  static let words = [
    "tee", "Tee", "t\u{e9}e", "te\u{301}e", "rot", "Rote", "gr\u{fc}n", "GRU\u{308}N", "ab", "a",
  ]

  static let titles =
    words + [
      "rot tee", "tee rot", "Rote T\u{e9}e", "gr\u{fc}n ab", "ab gr\u{fc}n tee", "", "z",
      "te\u{301}e rot", "a b", "Z",
    ]

  static let names = ["Ada", "ada", "Ben", "Bea", ""]
  static let tags = ["a", "b", "B", "\u{e9}", "z"]
  static let kinds = ["tea", "rice", "nuts"]

  /// A text without case and accents.
  static func folded(_ text: String) -> String { foldedTitles[text] ?? fold(text) }

  /// A text with each accent in its letter, so that equal texts have equal bytes.
  static func composed(_ text: String) -> String {
    composedTitles[text] ?? text.precomposedStringWithCanonicalMapping
  }

  /// The folded words of a text.
  static func words(of text: String) -> [String] {
    splitTitles[text] ?? split(text)
  }

  private static let foldedTitles = table(fold)
  private static let composedTitles = table { $0.precomposedStringWithCanonicalMapping }
  private static let splitTitles = table(split)

  private static func table<Result>(_ make: (String) -> Result) -> [String: Result] {
    Dictionary((titles + names + tags).map { ($0, make($0)) }) { first, _ in first }
  }

  private static func fold(_ text: String) -> String {
    text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
  }

  private static func split(_ text: String) -> [String] {
    fold(text).split(separator: " ").map(String.init)
  }
}
