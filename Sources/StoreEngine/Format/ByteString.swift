import ModelCore

/// Text as a key of sets and dictionaries that is compared byte by byte.
///
/// `String` compares by Unicode equivalence, under which two different identifiers can be equal.
struct ByteString: Hashable, Comparable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: ByteString, right: ByteString) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  static func < (left: ByteString, right: ByteString) -> Bool {
    left.text.hasBytes(before: right.text)
  }

  func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}
