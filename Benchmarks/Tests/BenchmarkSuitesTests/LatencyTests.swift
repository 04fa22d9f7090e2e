import Testing

@testable import BenchmarkSuites

@Suite struct LatencyTests {
  @Test func `shares of a distribution are exact to one part in sixty-four`() {
    let latencies = Latencies(stride: 1)
    for nanoseconds in UInt64(1)...100_000 { latencies.record(nanoseconds: nanoseconds) }
    let distribution = latencies.distribution
    #expect(distribution.count == 100_000)
    #expect(distribution.maximum == 100_000)
    for share in [0.01, 0.5, 0.9, 0.99, 0.999] {
      let expected = share * 100_000
      let actual = Double(distribution.nanoseconds(atShare: share))
      #expect(actual >= expected && actual <= expected * (1 + 1 / 64.0) + 1, "share \(share)")
    }
    #expect(distribution.nanoseconds(atShare: 1) == 100_000)
  }

  @Test(arguments: [0, 1, 63, 64, 65, 127, 128, 1_000, 1 << 40, UInt64.max])
  func `a single latency is found again`(nanoseconds: UInt64) {
    let latencies = Latencies(stride: 1)
    latencies.record(nanoseconds: nanoseconds)
    #expect(latencies.distribution.nanoseconds(atShare: 0.5) == nanoseconds)
  }

  @Test func `one operation in so many is timed`() {
    let latencies = Latencies(stride: 4)
    for _ in 0..<10 { latencies.time {} }
    #expect(latencies.distribution.count == 2)
  }

  @Test func `distributions add up`() {
    let (one, other) = (Latencies(stride: 1), Latencies(stride: 1))
    for _ in 0..<99 { one.record(nanoseconds: 10) }
    other.record(nanoseconds: 1_000_000)
    var sum = one.distribution
    sum.add(other.distribution)
    #expect(sum.count == 100)
    #expect(sum.nanoseconds(atShare: 0.99) == 10)
    #expect(sum.nanoseconds(atShare: 0.999) == 1_000_000)
  }

  @Test func `nothing has no latency`() {
    #expect(LatencyDistribution.none.nanoseconds(atShare: 0.5) == 0)
  }
}
