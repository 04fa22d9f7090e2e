/// How long items are whose first byte, or first two, say it: numbers, short texts and the like, as most
/// are.
enum ShortItem {
  /// For each first byte the byte count of the item; 0 if it doesn't tell, 127 if the second byte has the
  /// count of a text.
  ///
  /// A text, because that is the one constant that is looked at where the program lies: all counts are
  /// ASCII.
  private static var byteCounts: StaticString {
    """
    \u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\
    \u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{2}\u{3}\u{5}\u{9}\u{0}\u{0}\u{0}\u{0}\
    \u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\
    \u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{2}\u{3}\u{5}\u{9}\u{0}\u{0}\u{0}\u{0}\
    \u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\u{9}\u{a}\u{b}\u{c}\u{d}\u{e}\u{f}\u{10}\
    \u{11}\u{12}\u{13}\u{14}\u{15}\u{16}\u{17}\u{18}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\u{9}\u{a}\u{b}\u{c}\u{d}\u{e}\u{f}\u{10}\
    \u{11}\u{12}\u{13}\u{14}\u{15}\u{16}\u{17}\u{18}\u{7f}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{1}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{1}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}\u{0}\u{1}\u{1}\u{1}\u{0}\u{0}\u{3}\u{5}\u{9}\u{0}\u{0}\u{0}\u{0}\

    """
  }

  private static let textWithCount = 0x7F

  /// How many bytes an item has.
  ///
  /// - Parameters:
  ///   - address: Where it begins.
  ///   - remaining: How many bytes are there.
  /// - Returns: 0 for items that are not short and for one that is not whole.
  @inline(__always)
  static func byteCount(at address: UnsafeRawPointer, _ remaining: Int) -> Int {
    guard remaining > 0 else { return 0 }
    // In bounds: a byte is there, and the second is looked at only if there are two. The table has 256.
    let first = unsafe Int(address.load(as: UInt8.self))
    var count = unsafe Int(byteCounts.utf8Start[first])
    if count == textWithCount {
      guard remaining > 1 else { return 0 }
      count = unsafe 2 &+ Int(address.load(fromByteOffset: 1, as: UInt8.self))
    }
    return count <= remaining ? count : 0
  }
}
