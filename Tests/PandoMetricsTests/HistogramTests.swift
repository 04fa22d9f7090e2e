import PandoMetrics
import Testing

@Suite struct HistogramTests {
  @Test func `a value counts in the first range that holds it`() {
    var histogram = Histogram(bounds: [1, 2, 4])
    for value in [0.5, 1, 1.5, 2, 3, 4, 5, 100] { histogram.record(value) }
    #expect(histogram.counts == [2, 2, 2, 2])
    #expect(histogram.count == 8)
    #expect(histogram.sum == 117)
  }

  @Test func `a quantile is the bound of the range that reaches it`() {
    var histogram = Histogram(bounds: [1, 2, 4])
    #expect(histogram.quantile(0.5) == nil)
    for _ in 0..<98 { histogram.record(0.5) }
    histogram.record(3)
    histogram.record(9)
    #expect(histogram.quantile(0) == 1)
    #expect(histogram.quantile(0.5) == 1)
    #expect(histogram.quantile(0.98) == 1)
    #expect(histogram.quantile(0.99) == 4)
    #expect(histogram.quantile(1) == .infinity)
  }

  @Test func `the ranges for times and counts increase`() {
    for histogram in [Histogram.seconds, .counts] {
      #expect(zip(histogram.bounds, histogram.bounds.dropFirst()).allSatisfy(<))
      #expect(histogram.counts == Array(repeating: 0, count: histogram.bounds.count + 1))
    }
  }
}
