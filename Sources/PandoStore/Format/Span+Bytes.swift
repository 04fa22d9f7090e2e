import PandoSystem

extension Span<UInt8> {
  /// Whether the bytes are those of another span.
  func hasSameBytes(as other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    // Both pointers are read for `count` bytes during the call.
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in
        guard let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return true }
        return unsafe memcmp(mine, theirs, count) == 0
      }
    }
  }
}
