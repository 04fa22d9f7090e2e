/// Decisions that follow from a seed (SplitMix64, Steele, Lea and Flood 2014).
struct Choices {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0xD6E8_FEB8_6659_FD93 }

  /// Returns a number from 0 to less than `count`.
  mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
