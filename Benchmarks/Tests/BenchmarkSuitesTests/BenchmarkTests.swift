import Foundation
import Testing

@testable import BenchmarkSuites

@Suite struct BenchmarkTests {
  /// Every suite in its smoke size; `Runner.measure` throws when systems disagree.
  @Test(arguments: SuiteName.allCases)
  func `systems come to the same results in every workload`(suite: SuiteName) throws {
    var options = BenchmarkOptions()
    options.suites = [suite]
    options.size = .smoke
    options.runs = 2
    var reported: [String] = []
    let runner = try Runner(options) { reported.append($0.workload) }
    try runner.run()
    #expect(!runner.results.isEmpty)
    #expect(reported == runner.results.map(\.workload))
    for result in runner.results {
      #expect(result.entries.allSatisfy { $0.measurements.count == 2 })
      #expect(result.ratios.allSatisfy { $0.value > 0 }, "\(result.workload)")
    }
  }

  @Test func `different checksums are an error that shows them`() throws {
    var options = BenchmarkOptions()
    options.runs = 1
    let runner = try Runner(options) { _ in }
    let workload = makeWorkload(pando: 1, sqlite: 2)
    let error = #expect(throws: BenchmarkError.self) { try runner.measure(workload) }
    #expect(error?.kind == .wrongResult)
    #expect(error?.description.contains("SQLite [\"0000000000000002\"]") == true)
    #expect(runner.results.isEmpty)
  }

  @Test func `a result names medians, ratios and goals in JSON`() throws {
    var options = BenchmarkOptions()
    options.runs = 3
    let runner = try Runner(options) { _ in }
    try runner.measure(makeWorkload(pando: 7, sqlite: 7))
    let report = JSONReport(
      options: options, host: HostDescription(directory: options.directory),
      results: runner.results)
    let decoded = try JSONDecoder().decode(JSONReport.self, from: report.encoded())
    #expect(decoded.results.map(\.system) == ["pando", "sqlite"])
    #expect(decoded.results.map(\.figures.operationsPerSecond) == [20, 10])
    #expect(decoded.ratios.map(\.name) == ["kv/work/pando:sqlite"])
    #expect(decoded.ratios.map(\.value) == [2])
    #expect(decoded.ratios.map(\.goal) == [1.5])
  }

  @Test func `a working directory is gone at the end`() throws {
    let path: String
    do {
      let directory = try WorkingDirectory(in: FileManager.default.temporaryDirectory.path)
      path = directory.path
      #expect(FileManager.default.fileExists(atPath: path))
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  /// Pando takes 50 ms for an operation, SQLite 100 ms.
  private func makeWorkload(pando: UInt64, sqlite: UInt64) -> Workload {
    func contender(_ system: System, milliseconds: Int, _ checksum: UInt64) -> Workload.Contender {
      Workload.Contender(system: system) {
        let duration = Duration.milliseconds(milliseconds)
        return Measurement(
          operationCount: 1, duration: duration, processorDuration: duration, checksum: checksum)
      }
    }
    return Workload(
      name: "work", operation: "nothing", parameters: [:],
      goals: [Goal(.pando, over: .sqlite, minimum: 1.5)],
      contenders: [
        contender(.pando, milliseconds: 50, pando), contender(.sqlite, milliseconds: 100, sqlite),
      ])
  }
}
