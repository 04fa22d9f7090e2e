import PandoSystem

/// A text as a key of sets and dictionaries, compared byte by byte.
///
/// `String` compares by Unicode equivalence, so two different identifiers can be equal.
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

extension String {
  /// Whether the UTF-8 bytes are the same; `==` also matches two spellings of one character.
  package func hasSameBytes(as other: String) -> Bool {
    // Copies of a text and short texts are compared without their bytes; from Swift 6.4 the name is
    // `isTriviallyIdentical(to:)`.
    if _isIdentical(to: other) { return true }
    if utf8.count != other.utf8.count { return false }
    let mine = utf8Span.span
    let theirs = other.utf8Span.span
    return mine.count == theirs.count && compareBytes(mine, theirs, count: mine.count) == 0
  }

  /// Whether the UTF-8 bytes precede those of another text.
  package func hasBytes(before other: String) -> Bool {
    let mine = utf8Span.span
    let theirs = other.utf8Span.span
    let order = compareBytes(mine, theirs, count: Swift.min(mine.count, theirs.count))
    return order == 0 ? mine.count < theirs.count : order < 0
  }

  /// Whether it begins with the UTF-8 bytes of a shorter text and another byte.
  package func hasBytes(of start: String, before byte: UInt8) -> Bool {
    let (mine, first) = (utf8Span.span, start.utf8Span.span)
    return mine.count > first.count && mine[first.count] == byte
      && compareBytes(mine, first, count: first.count) == 0
  }

  /// Feeds the UTF-8 bytes to a hasher, with an end mark.
  package func hashBytes(into hasher: inout Hasher) {
    // Read during the call only.
    unsafe utf8Span.span.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    hasher.combine(UInt8(0xff))
  }
}

/// Compares the first bytes of two spans, which have at least `count` bytes.
private func compareBytes(_ left: Span<UInt8>, _ right: Span<UInt8>, count: Int) -> CInt {
  // Both are read during the call only.
  unsafe left.withUnsafeBytes { left in
    unsafe right.withUnsafeBytes { right in
      guard count > 0, let left = left.baseAddress, let right = right.baseAddress else { return 0 }
      return unsafe memcmp(left, right, count)
    }
  }
}
