/// A set of row numbers that is asked about every row of a list.
struct RowSet {
  private enum Form {
    case none
    case one(UInt32)
    /// One bit a number, from a first one on.
    case bits(first: UInt32, words: [UInt64])
    case hashed(Set<UInt32>)
  }

  private let form: Form

  /// How many bits are spent on a number: eight bytes, less than an entry of a `Set` needs.
  private static let bitsPerRow = 64
  /// How many bits a small set may have in any case: 8 KiB.
  private static let bitCountInAnyCase = 1 << 16

  /// Makes a set.
  ///
  /// - Parameter rows: Numbers, in any order.
  init(_ rows: [UInt32]) {
    guard let first = rows.min(), let last = rows.max() else {
      form = .none
      return
    }
    guard first < last else {
      form = .one(first)
      return
    }
    let bitCount = Int(last - first) + 1
    guard bitCount <= max(Self.bitCountInAnyCase, rows.count * Self.bitsPerRow) else {
      form = .hashed(Set(rows))
      return
    }
    var words = Array<UInt64>(repeating: 0, count: (bitCount + 63) / 64)
    for row in rows { words[Int(row - first) >> 6] |= 1 << UInt64((row - first) & 63) }
    form = .bits(first: first, words: words)
  }

  /// Whether a number is in the set.
  func contains(_ row: UInt32) -> Bool {
    switch form {
    case .none: return false
    case .one(let only): return row == only
    case .bits(let first, let words):
      guard row >= first else { return false }
      let bit = Int(row - first)
      return bit >> 6 < words.count && words[bit >> 6] & (1 << UInt64(bit & 63)) != 0
    case .hashed(let rows): return rows.contains(row)
    }
  }

  /// The places of a list where numbers of the set stand, in ascending order.
  func places(in list: [UInt32]) -> [Int] {
    switch form {
    case .none: return []
    case .one(let only): return Self.places(in: list) { $0 == only }
    case .bits, .hashed: return Self.places(in: list) { contains($0) }
    }
  }

  @inline(__always)
  private static func places(in list: [UInt32], where isWanted: (UInt32) -> Bool) -> [Int] {
    var places: [Int] = []
    let span = list.span
    for index in span.indices where isWanted(span[index]) { places.append(index) }
    return places
  }
}
