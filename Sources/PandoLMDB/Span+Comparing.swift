import PandoSystem

extension Span<UInt8> {
  /// Tells whether these bytes come before others in the order of keys.
  ///
  /// - Parameter other: Other bytes.
  /// - Returns: `true` if the first byte that differs is smaller, or the other one is longer.
  @inline(__always)
  func isLess(than other: Span<UInt8>) -> Bool {
    let shared = Swift.min(count, other.count)
    let order = unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in
        guard shared > 0, let mine = mine.baseAddress, let theirs = theirs.baseAddress else {
          return CInt(0)
        }
        return unsafe memcmp(mine, theirs, shared)
      }
    }
    return order == 0 ? count < other.count : order < 0
  }
}
