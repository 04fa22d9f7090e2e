/// Text as a key of sets and dictionaries that is compared byte by byte.
///
/// `String` compares by Unicode equivalence, under which two different identifiers can be equal.
package struct ByteString: Hashable, Comparable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: ByteString, right: ByteString) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  package static func < (left: ByteString, right: ByteString) -> Bool {
    left.text.hasBytes(before: right.text)
  }

  package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}
