/// Rows of fixed size, in one block each for keys and values.
struct KeyValueData {
  static let keyByteCount = 16
  static let valueByteCount = 100

  let count: Int
  /// The keys, in the order in which they are stored; all different, in no order of their own.
  let keys: [UInt8]
  /// The values, in the order of ``keys``.
  let values: [UInt8]
  /// All keys, in another order.
  let lookups: [UInt8]

  init(count: Int, seed: UInt64) {
    self.count = count
    var random = SeededGenerator(seed: seed)
    let salt = random.next()
    // Numbers are mixed one to one, so no two keys are alike.
    keys = Self.block(count * 2) { SeededGenerator.mix(salt &+ UInt64($0)) }
    values = Self.words(count: count * Self.valueByteCount / 4, &random)
    let order = Array(0..<count).shuffled(using: &random)
    var lookups: [UInt8] = []
    lookups.reserveCapacity(keys.count)
    for index in order {
      lookups += keys[index * Self.keyByteCount..<(index + 1) * Self.keyByteCount]
    }
    self.lookups = lookups
  }

  /// A block of 64-bit words.
  private static func block(_ count: Int, _ word: (Int) -> UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * 8)
    for index in 0..<count {
      withUnsafeBytes(of: word(index)) { bytes += $0 }
    }
    return bytes
  }

  /// A block of random 32-bit words.
  private static func words(count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * 4)
    for _ in 0..<count {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: random.next())) { bytes += $0 }
    }
    return bytes
  }
}
