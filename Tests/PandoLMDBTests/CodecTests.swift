import PandoFixtures
import PandoLMDB
import Testing

@Suite struct CodecTests {
  /// The encoded bytes.
  static func encode<Value>(_ value: Value, _ codec: TableCodec<Value>) throws -> [UInt8] {
    var buffer = EncodingBuffer()
    try codec.encode(value, &buffer)
    return [UInt8](buffer.bytes)
  }

  /// Checks that numbers come back and that their bytes have their order.
  static func check<Key: FixedWidthInteger & Sendable>(
    _ keys: [Key], _ codec: TableCodec<Key>
  ) throws {
    for left in keys {
      let bytes = try encode(left, codec)
      #expect(try codec.decode(bytes.span) == left)
      for right in keys {
        let others = try encode(right, codec)
        #expect(bytes.lexicographicallyPrecedes(others) == (left < right), "\(left), \(right)")
      }
    }
  }

  @Test func `numbers sort as numbers`() throws {
    try Self.check([.min, -256, -2, -1, 0, 1, 255, 256, .max], .int64)
    try Self.check([Int32.min, -1, 0, 65_536, .max], .int32)
    try Self.check([Int16.min, -1, 0, 256, .max], .int16)
    try Self.check([Int8.min, -1, 0, 1, .max], .int8)
    try Self.check([0, 1, 255, 256, UInt64.max], .uint64)
    try Self.check([0, 1, 255, 256, UInt32.max], .uint32)
    try Self.check([0, 1, 255, 256, UInt16.max], .uint16)
    try Self.check([0, 1, 127, 128, UInt8.max], .uint8)
  }

  @Test func `text sorts by Unicode scalars`() throws {
    let texts = ["", "\u{0}", "\u{0}a", "a", "a\u{0}", "ab", "b", "é", "\u{FFFF}", "\u{1F600}"]
    for left in texts {
      let bytes = try Self.encode(left, .string)
      #expect(try TableCodec.string.decode(bytes.span) == left)
      for right in texts {
        let others = try Self.encode(right, .string)
        #expect(
          bytes.lexicographicallyPrecedes(others)
            == left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars))
      }
    }
  }

  @Test(arguments: seeds(8))
  func `tuples sort element by element`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let codec = TableCodec.tuple(.bytes, .int16, .string)
    let keys = (0..<60).map { _ in
      let bytes = [UInt8](randomCount: 0...3, below: 3, using: &random).map {
        $0 == 2 ? UInt8.max : $0
      }
      return (
        bytes, Int16.random(in: -2...2, using: &random),
        ["", "\u{0}", "a", "a\u{0}"].randomElement(using: &random) ?? ""
      )
    }
    for left in keys {
      let bytes = try Self.encode(left, codec)
      let back = try codec.decode(bytes.span)
      #expect(back == left)
      for right in keys {
        let others = try Self.encode(right, codec)
        #expect(
          bytes.lexicographicallyPrecedes(others) == Self.isLess(left, right),
          "seed \(seed): \(left), \(right)")
      }
    }
  }

  private static func isLess(
    _ left: ([UInt8], Int16, String), _ right: ([UInt8], Int16, String)
  ) -> Bool {
    if left.0 != right.0 { return left.0.lexicographicallyPrecedes(right.0) }
    if left.1 != right.1 { return left.1 < right.1 }
    return left.2 < right.2
  }

  @Test func `bytes that do not fit are an error`() throws {
    expectError(.undecodable) { _ = try TableCodec.int64.decode([1, 2].span) }
    expectError(.undecodable) { _ = try TableCodec.string.decode([0xFF].span) }
    let pair = TableCodec.tuple(.string, .uint8)
    expectError(.undecodable) { _ = try pair.decode([65].span) }
    expectError(.undecodable) { _ = try pair.decode([65, 0, 1].span) }
    expectError(.undecodable) { _ = try pair.decode([65, 0, 2, 9].span) }
    expectError(.undecodable) { _ = try pair.decode([65, 0, 1, 9, 9].span) }
  }

  @Test func `a codec of two closures serves tables, tuples and their ranges`() throws {
    let flag = TableCodec<Bool>(
      encode: { flag, buffer in buffer.append(flag ? 1 : 0) },
      decode: { bytes in bytes.count == 1 && bytes[0] == 1 })
    try withEnvironment { environment in
      let flags = try environment.table("flags", keys: .tuple(flag, .string), values: flag)
      let keys = [(false, "a"), (false, "b"), (true, ""), (true, "c")]
      try environment.write { transaction in
        for key in keys.reversed() { try transaction.put(key.0, forKey: key, in: flags) }
      }
      try environment.read { snapshot in
        var found: [(key: (Bool, String), value: Bool)] = []
        try snapshot.scan(flags) { entry in
          found.append((try entry.key, try entry.value))
          return true
        }
        #expect(found.map(\.key).elementsEqual(keys, by: ==))
        #expect(found.map(\.value) == keys.map(\.0))
        var count = 0
        try snapshot.scan(flags, in: .prefix(true)) { entry in
          let key = try entry.key
          #expect(key.0)
          count += 1
          return true
        }
        #expect(count == 2)
      }
    }
  }

  @Test(arguments: [0, 1, 511, 512, 513, 5000])
  func `a buffer keeps written bytes of any length`(byteCount: Int) {
    let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0) }
    var whole = EncodingBuffer()
    whole.append(contentsOf: bytes.span)
    #expect([UInt8](whole.bytes) == bytes)
    var parts = EncodingBuffer()
    for byte in bytes { parts.append(byte) }
    parts.append(contentsOf: bytes.span)
    parts.append(bigEndian: UInt16(0x0102))
    #expect([UInt8](parts.bytes) == bytes + bytes + [1, 2])
    #expect(parts.count == 2 * byteCount + 2)
  }
}
