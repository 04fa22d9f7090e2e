import PandoRecords

/// The names of properties that Pando derives from texts of any length.
package enum PropertyName {
  private static let byteCountMaximum = 400

  /// A name of bounded length; readers of the row check its subject.
  package static func bounded(_ prefix: String, _ text: String) -> String {
    guard prefix.utf8.count + text.utf8.count > byteCountMaximum else { return prefix + text }
    let digits = String(XXHash64.hash(text.utf8Span.span), radix: 16)
    // A character may be cut in half, so this cuts between scalars.
    let start = String(text.unicodeScalars.prefix(60))
    return prefix + start + "#" + String(repeating: "0", count: 16 - digits.count) + digits
  }
}
