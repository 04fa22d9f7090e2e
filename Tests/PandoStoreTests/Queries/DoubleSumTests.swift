import PandoFixtures
import Testing

@testable import PandoStore

/// Sums of doubles beside the arithmetic of the processor, which is exact for two of them.
@Suite struct DoubleSumTests {
  private func sum(_ values: Double...) -> Double { sum(values) }

  private func sum(_ values: [Double]) -> Double {
    var sum = DoubleSum()
    for value in values { sum.add(value) }
    return sum.value
  }

  private func number(_ random: inout SeededGenerator) -> Double {
    let bits = Double(bitPattern: UInt64.random(in: 0...UInt64.max, using: &random))
    return switch Int.random(in: 0..<4, using: &random) {
    case 0: bits.isNaN ? 1 : bits
    case 1: Double.leastNonzeroMagnitude * Double(Int.random(in: -5...5, using: &random))
    case 2: Double(Int.random(in: -1_000...1_000, using: &random)) / 10
    default: Double.random(in: -1...1, using: &random)
    }
  }

  @Test(arguments: seeds(8))
  func `two are added as the processor adds them`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let (one, other) = (number(&random), number(&random))
      let (exact, expected) = (sum(one, other), one + other)
      #expect(exact == expected || exact.isNaN && expected.isNaN, "\(one) + \(other)")
    }
  }

  @Test(arguments: seeds(4))
  func `the order has no effect, and what is taken away leaves no trace`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let values = (0..<300).map { _ in number(&random) }.filter(\.isFinite)
    let more = (0..<100).map { _ in number(&random) }
    var changed = DoubleSum()
    for value in values { changed.add(value) }
    for value in more { changed.add(value) }
    for value in more.shuffled(using: &random) { changed.remove(value) }
    #expect(changed.value == sum(values))
    #expect(sum(values.shuffled(using: &random)) == sum(values))
    #expect(changed.count == values.count)
    var (left, right) = (DoubleSum(), DoubleSum())
    for value in values.prefix(100) { left.add(value) }
    for value in values.dropFirst(100) { right.add(value) }
    left.add(right)
    #expect(left.value == sum(values))
  }

  /// It was kept as digits out of range, so `verify` reported the totals of an empty range as wrong.
  @Test(arguments: seeds(4))
  func `a sum that another one takes away has the bytes of an empty one`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for count in 1...20 {
      let values = (0..<count).map { _ in number(&random) }
      var (total, other) = (NumberSum(), NumberSum())
      for value in values {
        total.add(.double(value))
        other.add(.double(value))
      }
      total.add(other.negated)
      var (bytes, expected) = ([UInt8](), [UInt8]())
      total.append(to: &bytes)
      NumberSum().append(to: &expected)
      #expect(bytes == expected, "\(values)")
    }
  }

  @Test func `nothing is lost beside a large number`() {
    #expect(sum(1e17, 1, -1e17) == 1)
    #expect(sum(Array(repeating: 0.1, count: 10)) == 1)
    #expect(sum(.greatestFiniteMagnitude, .greatestFiniteMagnitude) == .infinity)
    #expect(
      sum(.greatestFiniteMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude)
        == .greatestFiniteMagnitude)
    #expect(sum(.infinity, 1) == .infinity)
    #expect(sum(.infinity, -.infinity).isNaN)
    #expect(sum() == 0)
  }
}
