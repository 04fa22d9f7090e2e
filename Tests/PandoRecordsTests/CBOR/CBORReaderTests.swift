import PandoFixtures
import Testing

@testable import PandoRecords

@Suite struct CBORReaderTests {
  private func code(_ hex: String, _ read: (inout CBORReader) throws -> Void) -> CBORError.Code? {
    bytes(hex).withUnsafeBytes { raw in
      var reader = CBORReader(raw)
      do {
        try read(&reader)
        return nil
      } catch { return (error as? CBORError)?.code }
    }
  }

  @Test(arguments: [
    ("", CBORError.Code.endOfBytes), ("18", .endOfBytes), ("1901", .endOfBytes),
    ("61", .endOfBytes),
    ("7b7fffffffffffffff", .endOfBytes), ("5bffffffffffffffff", .endOfBytes),
    ("9bffffffffffffffff", .endOfBytes), ("bb8000000000000000", .endOfBytes), ("8101", nil),
    ("8201", .endOfBytes), ("a101", .endOfBytes), ("1c", .badHead), ("fc", .badHead),
    ("1f", .badHead), ("f801", .badHead), ("ff", .indefiniteLength), ("c1", .endOfBytes),
  ])
  func `a malformed item is refused before its length is used`(
    hex: String, expected: CBORError.Code?
  ) {
    #expect(code(hex) { try $0.skip() } == expected)
  }

  @Test func `a long run of nested heads is passed over without recursion`() throws {
    let depth = 200_000
    let body = [UInt8](repeating: 0x81, count: depth) + [0]
    try body.withUnsafeBytes { raw in
      var reader = CBORReader(raw)
      try reader.skip()
      try reader.finish()
    }
  }

  @Test(arguments: seeds(16)) func `random bytes end in an error or an item`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let body = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      body.withUnsafeBytes { raw in
        var reader = CBORReader(raw)
        while !reader.isAtEnd, (try? reader.skip()) != nil {}
        #expect(reader.offset <= raw.count)
      }
    }
  }

  @Test(arguments: seeds(32)) func `every float keeps its bits in the shortest width`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      var bits = random.next()
      // Fewer digits, so that the narrow widths are met.
      if Bool.random(using: &random) { bits &= ~0 << UInt64.random(in: 20..<52, using: &random) }
      let double = Double(bitPattern: bits)
      let byteCount: Int
      switch double.shortestWidth {
      case .half(let half):
        #expect(Double(widening: half).bitPattern == bits)
        byteCount = 2
      case .single(let single):
        #expect(Double(widening: single).bitPattern == bits)
        byteCount = 4
      case .double(let same):
        #expect(same == bits)
        byteCount = 8
      }
      if double.isFinite {
        let shortest =
          Double(Float16(double)) == double ? 2 : Double(Float(double)) == double ? 4 : 8
        #expect(byteCount == shortest, "\(double)")
      }
    }
  }

  @Test func `every half is widened and narrowed to itself`() {
    for half in UInt16.min...UInt16.max {
      guard case .half(half) = Double(widening: half).shortestWidth else {
        Issue.record("half \(half) changed")
        return
      }
      let float = Float16(bitPattern: half)
      if !float.isNaN { #expect(Double(widening: half) == Double(float)) }
    }
  }
}
