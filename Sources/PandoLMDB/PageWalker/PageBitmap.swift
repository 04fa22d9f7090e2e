/// A set of page numbers, one bit each.
struct PageBitmap {
  private var words: [UInt64]
  /// How many pages are in the set.
  private(set) var count: UInt64 = 0

  /// Makes an empty set of numbers below a limit.
  init(limit: UInt64) {
    words = [UInt64](repeating: 0, count: Int(limit / 64) + 1)
  }

  func contains(_ page: UInt64) -> Bool {
    words[Int(page / 64)] & (1 << (page % 64)) != 0
  }

  /// Adds a page; says whether it was not there before.
  mutating func insert(_ page: UInt64) -> Bool {
    let bit: UInt64 = 1 << (page % 64)
    guard words[Int(page / 64)] & bit == 0 else { return false }
    words[Int(page / 64)] |= bit
    count += 1
    return true
  }

  /// Calls `body` with each page that is in both sets, in order.
  func forEachPage(alsoIn other: PageBitmap, _ body: (UInt64) throws -> Void) rethrows {
    for index in words.indices {
      var both = words[index] & other.words[index]
      while both != 0 {
        try body(UInt64(index) * 64 + UInt64(both.trailingZeroBitCount))
        both &= both - 1
      }
    }
  }
}
