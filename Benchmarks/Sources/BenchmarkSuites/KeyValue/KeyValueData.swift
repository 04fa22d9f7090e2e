/// Rows of fixed size, in one block each for keys and values.
struct KeyValueData: Sendable {
  static let keyByteCount = 16
  static let valueByteCount = 100

  let count: Int
  /// The rows; all keys are different, in no order of their own.
  let rows: KeyValueRows
  /// The same keys with other values, alike in what ``KeyValueSeen`` looks at: their first and last
  /// 8 bytes.
  let otherRows: KeyValueRows
  /// The rows in an order of their own.
  let randomOrder: [UInt32]
  /// The rows in the order of their keys.
  let sortedOrder: [UInt32]

  init(count: Int, seed: UInt64) {
    self.count = count
    var random = SeededGenerator(seed: seed)
    let salt = random.next()
    // Numbers are mixed one to one, so no two keys are alike.
    let keys = Self.block(count * 2) { SeededGenerator.mix(salt &+ UInt64($0)) }
    let values = Self.words(count: count * Self.valueByteCount / 4, &random)
    rows = Self.rows(keys, values)
    otherRows = Self.rows(keys, Self.changed(values))
    let order = Array(0..<UInt32(count))
    randomOrder = order.shuffled(using: &random)
    sortedOrder = order.sorted { Self.isLess(keys, Int($0), Int($1)) }
  }

  /// The keys of some rows, in their order.
  func keys(of order: some Sequence<UInt32>) -> KeyValueKeys {
    var block: [UInt8] = []
    for row in order {
      block += rows.keys[Int(row) * Self.keyByteCount..<(Int(row) + 1) * Self.keyByteCount]
    }
    return KeyValueKeys(bytes: block, keyByteCount: Self.keyByteCount)
  }

  /// As many keys that no row has, in no order.
  func missingKeys(_ count: Int) -> KeyValueKeys {
    // A key is two neighbouring numbers, mixed; here the second is changed.
    var block = keys(of: randomOrder.prefix(count)).bytes
    for index in 0..<count { block[index * Self.keyByteCount + 15] ^= 0x55 }
    return KeyValueKeys(bytes: block, keyByteCount: Self.keyByteCount)
  }

  private static func rows(_ keys: [UInt8], _ values: [UInt8]) -> KeyValueRows {
    KeyValueRows(
      keys: keys, values: values, keyByteCount: keyByteCount, valueByteCount: valueByteCount)
  }

  private static func isLess(_ keys: [UInt8], _ left: Int, _ right: Int) -> Bool {
    keys[left * keyByteCount..<(left + 1) * keyByteCount]
      .lexicographicallyPrecedes(keys[right * keyByteCount..<(right + 1) * keyByteCount])
  }

  private static func changed(_ values: [UInt8]) -> [UInt8] {
    var values = values
    for start in stride(from: 0, to: values.count, by: valueByteCount) {
      for index in start + 8..<start + valueByteCount - 8 { values[index] ^= 0xff }
    }
    return values
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
