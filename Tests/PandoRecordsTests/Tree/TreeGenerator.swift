import PandoModels

/// Random trees from a seed: SplitMix64 (Steele, Lea and Flood, 2014) and what is made with it.
struct TreeGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed &* 0x2545_f491_4f6c_dd1d &+ 1
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var result = state
    result = (result ^ (result >> 30)) &* 0xbf58_476d_1ce4_e5b9
    result = (result ^ (result >> 27)) &* 0x94d0_49bb_1331_11eb
    return result ^ (result >> 31)
  }

  mutating func chance(_ numerator: Int, in denominator: Int) -> Bool {
    Int.random(in: 0..<denominator, using: &self) < numerator
  }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &self)]
  }

  /// An integer of any width, extremes often.
  mutating func integer() -> Int64 {
    let bits = UInt64.random(in: 0...63, using: &self)
    let value = Int64(bitPattern: next() >> bits)
    return chance(1, in: 8) ? pick([.min, .max, -1, 0, 23, 24, 255, 256, -24, -25]) : value
  }

  /// A double of any bit pattern, special ones often.
  mutating func double() -> Double {
    switch Int.random(in: 0..<6, using: &self) {
    case 0:
      pick([
        0, -0.0, 1, 1.5, .infinity, -.infinity, .nan, .signalingNaN, .leastNonzeroMagnitude,
        .greatestFiniteMagnitude, 65504, 5.960464477539063e-8, 0.1, 3.4028234663852886e+38, 1e300,
      ])
    case 1: Double(Float(bitPattern: UInt32(truncatingIfNeeded: next())))
    case 2: Double(integer())
    default: Double(bitPattern: next())
    }
  }

  mutating func text() -> String {
    let scalars: [UnicodeScalar] = [
      "a", "b", "z", "$", "\"", "\\", "/", "\n", "\u{0}", "\u{1f}", "\u{7f}", "é", "e", "\u{301}",
      "\u{2028}", "ẞ", "中", "🌳", "\u{10ffff}", "\u{fffd}", "{", "0",
    ]
    var text = String.UnicodeScalarView()
    let count = chance(1, in: 10) ? 30 : Int.random(in: 0...5, using: &self)
    for _ in 0..<count { text.append(pick(scalars)) }
    return String(text)
  }

  mutating func bytes(atMost limit: Int) -> [UInt8] {
    let count = Int.random(in: 0...limit, using: &self)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  /// A value that holds no other.
  mutating func scalar() -> TreeValue {
    switch Int.random(in: 0..<8, using: &self) {
    case 0: .null
    case 1: .bool(chance(1, in: 2))
    case 2, 3: .integer(integer())
    case 4: .unsigned(next() | 1 << 63)
    case 5: .double(double())
    case 6: .bytes(bytes(atMost: 12))
    default: .string(text())
    }
  }

  /// Any value at all, also one that no record would hold like this.
  mutating func anyValue(depth: Int) -> TreeValue {
    guard depth > 0 else { return scalar() }
    switch Int.random(in: 0..<10, using: &self) {
    case 0: return .array(elements { $0.anyValue(depth: depth - 1) })
    case 1: return .object(fields { $0.anyValue(depth: depth - 1) })
    case 2:
      let pairs = elements { ($0.anyValue(depth: depth - 1), $0.anyValue(depth: depth - 1)) }
      return .entries(Dictionary(pairs) { first, _ in first })
    case 3: return .tagged(next() >> UInt64.random(in: 0..<64, using: &self), scalar())
    case 4: return .node(TreeNode(text(), type: text(), fields: anyValue(depth: depth - 1)))
    case 5: return .reference(identifier: text(), typeName: text())
    case 6: return .required(anyValue(depth: depth - 1))
    default: return scalar()
    }
  }

  mutating func elements<Element>(_ make: (inout TreeGenerator) -> Element) -> [Element] {
    (0..<Int.random(in: 0...4, using: &self)).map { _ in make(&self) }
  }

  mutating func fields(_ make: (inout TreeGenerator) -> TreeValue) -> [String: TreeValue] {
    let pairs = elements { ($0.text(), make(&$0)) }
    return Dictionary(pairs) { first, _ in first }
  }
}
