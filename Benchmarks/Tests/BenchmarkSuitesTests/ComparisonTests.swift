import Testing

@testable import BenchmarkSuites

@Suite struct ComparisonTests {
  @Test func `workloads that are compared take turns, and each begins`() throws {
    var options = BenchmarkOptions()
    options.runs = 3
    options.workloads = ["one", "two"]
    var turns: [String] = []
    let runner = try Runner(options) { _ in }
    try runner.measure(
      ["one", "left out", "two"].map { name in
        Workload(
          name: name, operation: "nothing", parameters: [:],
          contenders: [
            Workload.Contender(.pando) {
              turns.append(name)
              return Self.measurement(milliseconds: 1)
            }
          ])
      })
    #expect(turns == ["one", "two", "two", "one", "one", "two"])
    #expect(runner.results.map(\.workload) == ["one", "two"])
    #expect(runner.results.allSatisfy { $0.entries.map(\.measurements.count) == [3] })
  }

  @Test func `for a least value rates are compared, for a most value times`() throws {
    let runner = try Runner(BenchmarkOptions()) { _ in }
    try runner.measure(
      [("fast", 10), ("slow", 40)].map { name, milliseconds in
        Workload(
          name: name, operation: "nothing", parameters: [:],
          contenders: [
            Workload.Contender(.pando) { Self.measurement(milliseconds: milliseconds) }
          ])
      })
    runner.compare("slow", with: "fast", "rate", goal: .atLeast(0.5))
    runner.compare("slow", with: "fast", "time", goal: .atMost(5))
    runner.compare("slow", with: "absent", "nothing", goal: .atMost(5))
    #expect(runner.comparisons.map(\.name) == ["kv/slow:fast", "kv/slow:fast"])
    #expect(runner.comparisons.map(\.value) == [0.25, 4])
    #expect(runner.comparisons.map(\.processorValue) == [0.25, 4])
    #expect(runner.comparisons.map(\.range) == [0.25...0.25, 4...4])
    #expect(runner.comparisons.map(\.isReached) == [false, true])
  }

  private static func measurement(milliseconds: Int) -> Measurement {
    Measurement(
      operationCount: 1, duration: .milliseconds(milliseconds),
      processorDuration: .milliseconds(milliseconds), checksum: 0)
  }
}
