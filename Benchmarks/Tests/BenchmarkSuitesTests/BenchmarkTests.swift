import Foundation
import Testing

@testable import BenchmarkSuites

@Suite struct BenchmarkTests {
  /// Every suite in its smoke size; `Runner.measure` throws when systems disagree.
  @Test(arguments: SuiteName.allCases)
  func `systems come to the same results in every workload`(suite: SuiteName) async throws {
    var options = BenchmarkOptions()
    options.suites = [suite]
    options.size = .smoke
    options.runs = 2
    options.threads = 8
    let (results, reported) = try await onThread { [options] in
      var reported: [String] = []
      let runner = try Runner(options) { reported.append($0.workload) }
      try runner.run()
      return (runner.results, reported)
    }
    #expect(!results.isEmpty)
    #expect(reported == results.map(\.workload))
    #expect(Set(reported).count == reported.count)
    for result in results {
      #expect(result.entries.allSatisfy { $0.measurements.count == 2 })
      #expect(result.entries.allSatisfy { $0.latencies.count > 0 }, "\(result.workload)")
      #expect(result.ratios.allSatisfy { $0.value > 0 }, "\(result.workload)")
    }
  }

  /// Runs `body` where it may block: suites wait for tasks, which need the threads of tests.
  private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
  }

  @Test func `different checksums are an error that shows them`() throws {
    var options = BenchmarkOptions()
    options.runs = 1
    let runner = try Runner(options) { _ in }
    let workload = makeWorkload(pando: 1, lmdb: 2)
    let error = #expect(throws: BenchmarkError.self) { try runner.measure(workload) }
    #expect(error?.kind == .wrongResult)
    #expect(error?.description.contains("C on LMDB [\"0000000000000002\"]") == true)
    #expect(runner.results.isEmpty)
  }

  @Test func `a system that was not asked for is left out`() throws {
    var options = BenchmarkOptions()
    options.systems = ["pando"]
    let runner = try Runner(options) { _ in }
    try runner.measure(makeWorkload(pando: 1, lmdb: 2))
    #expect(runner.results.map { $0.entries.map(\.system) } == [[.pando]])
    #expect(runner.ratios.isEmpty)
  }

  @Test(arguments: [
    (["work"], true), (["other", "wo*"], true), (["*"], true), (["wor"], false),
    (["work-*"], false),
  ])
  func `a workload that was not asked for is left out`(names: [String], isRun: Bool) throws {
    var options = BenchmarkOptions()
    options.workloads = names
    let runner = try Runner(options) { _ in }
    try runner.measure(makeWorkload(pando: 1, lmdb: 1))
    #expect(runner.results.isEmpty == !isRun)
  }

  @Test func `a name that no workload has is an error`() throws {
    var options = BenchmarkOptions()
    options.suites = []
    options.workloads = ["get-forest"]
    let runner = try Runner(options) { _ in }
    let error = #expect(throws: BenchmarkError.self) { try runner.run() }
    #expect(error?.kind == .usage)
    #expect(error?.description.contains("get-forest") == true)
  }

  @Test func `a result names medians, ratios and goals in JSON`() throws {
    let runner = try Runner(BenchmarkOptions()) { _ in }
    try runner.measure(makeWorkload(pando: 7, lmdb: 7))
    runner.add(
      Comparison(
        name: "kv/growth", title: "growth", value: 4, unit: "ms", original: 9, goal: .atMost(3)))
    let decoded = try JSONDecoder().decode(JSONReport.self, from: makeJSON(runner))
    #expect(decoded.format == 2)
    #expect(decoded.results.map(\.system) == ["pando", "lmdb"])
    #expect(decoded.results.map(\.figures.operationsPerSecond) == [20, 10])
    #expect(decoded.results.map(\.figures.latency.max) == [50_000_000, 100_000_000])
    #expect(decoded.results.map(\.figures.writtenBytesPerOperation) == [4_096, nil])
    #expect(decoded.ratios.map(\.name) == ["kv/work/pando:lmdb", "kv/growth"])
    #expect(decoded.ratios.map(\.value) == [2, 4])
    #expect(decoded.ratios.map(\.goal) == [1.5, 3])
    #expect(decoded.ratios.map(\.goalDirection) == [.atLeast, .atMost])
    #expect(decoded.ratios.map(\.isReached) == [true, false])
    #expect(decoded.ratios.map(\.original) == [nil, 9])
  }

  @Test func `JSON has the fields that are documented`() throws {
    let runner = try Runner(BenchmarkOptions()) { _ in }
    try runner.measure(makeWorkload(pando: 7, lmdb: 7))
    let object = try JSONSerialization.jsonObject(with: makeJSON(runner))
    let report = try #require(object as? [String: Any])
    #expect(Set(report.keys) == ["format", "options", "host", "results", "ratios"])
    let result = try #require((report["results"] as? [[String: Any]])?.first)
    #expect(Set(result.keys) == ["suite", "workload", "system", "parameters", "figures"])
    let figures = try #require(result["figures"] as? [String: Any])
    #expect(
      Set(figures.keys) == [
        "operationsPerSecond", "operationsPerSecondOfRuns", "processorNanosecondsPerOperation",
        "operationCount", "latency", "writtenBytesPerOperation", "fileBytes", "peakMemoryBytes",
        "checksum",
      ])
    let latency = try #require(figures["latency"] as? [String: Any])
    #expect(Set(latency.keys) == ["count", "p50", "p99", "p999", "max"])
  }

  @Test func `a page is whole and shows every workload and ratio`() throws {
    let options = BenchmarkOptions()
    let runner = try Runner(options) { _ in }
    try runner.measure(makeWorkload(pando: 7, lmdb: 7))
    let page = HTMLReport(
      options: options, host: HostDescription(directory: options.directory),
      results: runner.results, ratios: runner.ratios
    ).text
    #expect(page.hasPrefix("<!DOCTYPE html>"))
    #expect(page.contains("<svg"))
    #expect(page.contains("nothing &amp; more"))
    #expect(page.contains("C on LMDB"))
    #expect(!page.contains("<script"))
    #expect(!page.contains("http://") || page.contains("http://www.w3.org/2000/svg"))
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

  private func makeJSON(_ runner: Runner) throws -> Data {
    try JSONReport(
      options: runner.options, host: HostDescription(directory: runner.options.directory),
      results: runner.results, ratios: runner.ratios
    ).encoded()
  }

  /// Pando takes 50 ms for an operation and writes a page, C takes 100 ms.
  private func makeWorkload(pando: UInt64, lmdb: UInt64) -> Workload {
    func contender(
      _ system: System, milliseconds: UInt64, written: Int?, _ checksum: UInt64
    ) -> Workload.Contender {
      Workload.Contender(system) {
        let duration = Duration.milliseconds(milliseconds)
        let latencies = Latencies(stride: 1)
        latencies.record(nanoseconds: milliseconds * 1_000_000)
        return Measurement(
          operationCount: 1, duration: duration, processorDuration: duration, checksum: checksum,
          latencies: latencies.distribution, writtenByteCount: written, fileByteCount: 1)
      }
    }
    return Workload(
      name: "work", operation: "nothing & more", parameters: [:], goals: [.lmdb: 1.5],
      contenders: [
        contender(.pando, milliseconds: 50, written: 4_096, pando),
        contender(.lmdb, milliseconds: 100, written: nil, lmdb),
      ])
  }
}
