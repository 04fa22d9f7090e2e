import Pando
import Testing

@testable import BenchmarkSuites

@Suite struct BenchmarkOptionsTests {
  @Test func `no arguments mean all suites in the standard size`() throws {
    let options = try BenchmarkOptions(arguments: [])
    #expect(options.suites == SuiteName.allCases)
    #expect(options.size == .standard)
    #expect(options.runs == 3)
    #expect(options.durability() == .full)
    #expect(options.takesPart(.pando))
  }

  @Test func `every option is read`() throws {
    let options = try BenchmarkOptions(arguments: [
      "--suite", "model,kv", "--size", "smoke", "--runs", "5", "--seed", "9", "--json", "a.json",
      "--dir", "/data", "--systems", "pando,sqlite", "--threads", "8", "--durability",
      "consistent", "--html", "a.html", "--workload", "get-tree,put-*",
    ])
    #expect(options.suites == [.model, .kv])
    #expect(options.size == .smoke)
    #expect(options.runs == 5)
    #expect(options.seed == 9)
    #expect(options.jsonPath == "a.json")
    #expect(options.directory == "/data")
    #expect(options.systems == ["pando", "sqlite"])
    #expect(options.threadCounts([1, 8, 64]) == [1, 8])
    #expect(options.durability(default: .unsynchronized) == .consistent)
    #expect(options.htmlPath == "a.html")
    #expect(options.workloads == ["get-tree", "put-*"])
  }

  @Test(arguments: [
    ["--size", "huge"], ["--suite", "kv,none"], ["--runs", "0"], ["--seed", "x"], ["--runs"],
    ["--what", "1"], ["kv"], ["--systems", "oracle"], ["--threads", "-1"],
    ["--durability", "eternal"],
  ])
  func `a wrong argument is named`(arguments: [String]) throws {
    let error = #expect(throws: BenchmarkError.self) {
      try BenchmarkOptions(arguments: arguments)
    }
    #expect(error?.kind == .usage)
    #expect(error?.description.contains(arguments[0]) == true)
  }

  @Test func `help is asked for without a value`() throws {
    #expect(try BenchmarkOptions(arguments: ["--help"]).showsHelp)
    #expect(BenchmarkOptions.usage.contains("--json"))
  }
}
