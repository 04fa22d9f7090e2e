import PandoModels

/// The names of properties that Pando makes of texts of any length.
package enum PropertyName {
  private static let byteCountMaximum = 400

  /// A name that fits; whoever reads the row checks what it is about.
  package static func bounded(_ prefix: String, _ text: String) -> String {
    guard prefix.utf8.count + text.utf8.count > byteCountMaximum else { return prefix + text }
    let bytes = Array(text.utf8)
    let hash = unsafe bytes.withUnsafeBytes { unsafe XXHash64.hash($0) }
    let digits = String(hash, radix: 16)
    // A character may end at the cut: half of one would not be text.
    let start = String(text.unicodeScalars.prefix(60))
    return prefix + start + "#" + String(repeating: "0", count: 16 - digits.count) + digits
  }
}
