/// Decisions: the bytes of a fuzzer, one for each, or numbers that follow from a seed (SplitMix64,
/// Steele, Lea and Flood 2014).
public struct Choices: Sendable {
  private var bytes: ArraySlice<UInt8>?
  private var state: UInt64 = 0

  /// Makes decisions of bytes; once they are used up all are 0.
  public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes)[...] }

  /// Makes decisions that follow from a seed and do not end.
  public init(seed: UInt64) { state = seed }

  /// Whether all bytes are used up.
  var isExhausted: Bool { bytes?.isEmpty ?? false }

  /// Makes one for each of several tasks: each gets its share of the bytes, or a seed of its own.
  func split(_ count: Int) -> [Choices] {
    (0..<count).map { part in
      guard let bytes else {
        var other = self
        other.state ^= UInt64(part + 1) &* 0xD6E8_FEB8_6659_FD93
        _ = other.next()
        return other
      }
      let share = bytes.enumerated().filter { $0.offset % count == part }
      return Choices(bytes: share.map(\.element))
    }
  }

  /// Returns a number from 0 to less than `count`.
  mutating func below(_ count: Int) -> Int {
    if bytes != nil { return Int(bytes?.popFirst() ?? 0) % count }
    return Int(next() % UInt64(count))
  }

  /// Returns `true` in so many of a hundred cases; a byte of 0 is never one.
  mutating func chance(_ percent: Int) -> Bool {
    if bytes != nil { return Int(bytes?.popFirst() ?? 0) > 255 - percent * 256 / 100 }
    return below(100) < percent
  }

  /// Returns one of several.
  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
