import PandoSystem

/// A text that is searched for inside others, or at their beginning.
package struct TextPart: Hashable, Sendable {
  /// The text as given.
  package let text: String
  package let options: TextComparison
  /// Whether it must be at the beginning.
  package let isPrefix: Bool
  /// The folded bytes.
  private let bytes: [UInt8]
  private let isASCII: Bool

  package init(_ text: String, _ options: TextComparison, isPrefix: Bool = false) {
    self.text = text
    self.options = options
    self.isPrefix = isPrefix
    var bytes: [UInt8] = []
    if let folding = TextFolding.of(options) {
      folding.append(Array(text.utf8).span, to: &bytes)
    } else {
      bytes = Array(text.utf8)
    }
    self.bytes = bytes
    isASCII = bytes.allSatisfy { $0 < 0x80 }
  }

  /// Whether a text has it.
  ///
  /// - Complexity: O(*n*) for *n* bytes in the usual case.
  package func isFound(in text: String) -> Bool {
    if bytes.isEmpty { return true }
    var text = text
    return text.withUTF8 { utf8 in
      guard let folding = TextFolding.of(options) else { return unsafe isFound(in: utf8) }
      return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: utf8.count) { room in
        // Folded here, unless a byte is not ASCII.
        var place = 0
        while place < utf8.count, unsafe utf8[place] < 0x80 {
          unsafe room.initializeElement(at: place, to: TextFolding.lowercased(utf8[place]))
          place += 1
        }
        if place == utf8.count, options.contains(.caseInsensitive) {
          return unsafe isASCII && isFound(in: UnsafeBufferPointer(rebasing: room[..<place]))
        }
        var folded: [UInt8] = []
        folded.reserveCapacity(utf8.count + 16)
        unsafe folding.append(Span(_unsafeElements: utf8), to: &folded)
        return unsafe folded.withUnsafeBufferPointer { unsafe isFound(in: $0) }
      }
    }
  }

  private func isFound(in text: UnsafeBufferPointer<UInt8>) -> Bool {
    // Read during the call only.
    unsafe bytes.withUnsafeBufferPointer { part in
      guard var start = text.baseAddress, let first = part.baseAddress,
        text.count >= part.count
      else { return false }
      if isPrefix { return unsafe memcmp(start, first, part.count) == 0 }
      let end = unsafe start + (text.count - part.count + 1)
      while unsafe start < end {
        guard let found = unsafe memchr(start, CInt(first.pointee), end - start) else {
          return false
        }
        if unsafe memcmp(found, first, part.count) == 0 { return true }
        unsafe start = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) + 1
      }
      return false
    }
  }
}
