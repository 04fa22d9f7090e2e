import Foundation
import Glibc
import PandoFixtures
import Testing

/// How plain `swift test` runs the tests: a few at once, ended when they hang, and nothing is left.
@Suite struct WatchdogTests {
  private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path

  private static func arguments(_ test: String) -> [String] {
    ["--testing-library", "swift-testing", "--filter", "HangingTests.*\(test)"]
  }

  /// Variables for a run that hangs: two looks that find nothing running end it.
  private static func variables(
    _ folder: String, patience: Int = 2, processor: Int = 1000
  ) -> [String: String] {
    [
      HangingTests.variable: "1", "PANDO_TEST_PATIENCE": "\(patience)",
      "PANDO_TEST_PROCESSOR_PATIENCE": "\(processor)", "TMPDIR": folder,
    ]
  }

  /// Runs one of the tests that hang in a process of its own, which must leave nothing behind.
  private func run(
    _ test: String, patience: Int = 2, processor: Int = 1000
  ) async throws -> ChildProcess.Run {
    try await withTemporaryDirectory { folder in
      let run = try await blocking {
        try ChildProcess.run(
          Self.program, Self.arguments(test),
          environment: Self.variables(folder, patience: patience, processor: processor))
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
      return run
    }
  }

  /// Whether a process still runs; one that has ended may wait for its parent to see that.
  private func isRunning(_ process: pid_t) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    return status.map { !$0.contains(") Z ") && !$0.contains(") X ") } ?? false
  }

  @Test func `a test that waits for ever ends the run, and its wait is named`() async throws {
    let run = try await run("waits for an event")
    #expect(run.status == EXIT_FAILURE)
    #expect(run.errors.contains("nothing has run at 2 looks"), "\(run)")
    #expect(run.errors.contains("`waits for an event that never comes`()"), "\(run)")
    #expect(
      run.errors.contains(/HangingTests.swift:[0-9]+ waits for an event\n/), "\(run)")
  }

  @Test func `a process that is waited for is named and ended`() async throws {
    let run = try await run("waits for a process")
    #expect(run.status == EXIT_FAILURE)
    let wait = run.errors.firstMatch(
      of: /HangingTests.swift:[0-9]+ waits for a line of process ([0-9]+) \(\/bin\/cat\)/)
    let process = try #require(wait.flatMap { pid_t($0.1) }, "\(run)")
    #expect(run.errors.contains("  \(process) (state S): /bin/cat\n"), "\(run)")
    while isRunning(process) {}
  }

  @Test func `an exit test that waits for ever is ended`() async throws {
    let run = try await run("waits in an exit test")
    #expect(run.status == EXIT_FAILURE)
    #expect(run.errors.contains("`waits in an exit test`()"), "\(run)")
    let line = run.errors.firstMatch(of: #/  ([0-9]+) \(state S\): /#)
    let process = try #require(line.flatMap { pid_t($0.1) }, "\(run)")
    while isRunning(process) {}
  }

  @Test func `a test that goes round in circles ends the run`() async throws {
    let run = try await run("goes round", processor: 2)
    #expect(run.status == EXIT_FAILURE)
    #expect(run.errors.contains("s of the processor were used"), "\(run)")
    #expect(run.errors.contains("`goes round in circles`()"), "\(run)")
  }

  @Test func `a test that computes is left alone, and so is one whose process does`() async throws {
    // One look may come between the end of the process and the wake of the thread that waits for it.
    let run = try await run("computes", patience: 2)
    #expect(run.status == EXIT_SUCCESS, "\(run)")
  }

  @Test func `a few tests run at once, and another number when the variable says so`() async throws
  {
    let width = "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH"
    #expect(getenv(width) != nil)
    for (variable, expected) in [("", 12), ("3", 3)] {
      let run = try await blocking {
        try ChildProcess.run(
          Self.program, Self.arguments("many at once"),
          environment: [HangingTests.variable: "1", width: variable])
      }
      #expect(run.status == EXIT_SUCCESS, "\(run)")
      let counts = run.lines.compactMap { $0.wholeMatch(of: /running ([0-9]+)/) }
        .compactMap { Int($0.1) }
      #expect(counts.count == 100)
      #expect(counts.max() ?? 0 <= expected)
    }
  }

  @Test(arguments: ["waits for a process", "waits in an exit test"])
  func `a process that a killed run has started ends`(test: String) async throws {
    try await withTemporaryDirectory { folder in
      let pipe = folder + "/pipe"
      #expect(mkfifo(pipe, 0o600) == 0)
      var variables = Self.variables(folder, patience: 1000)
      variables[HangingTests.variable] = pipe
      let run = try ChildProcess(Self.program, Self.arguments(test), environment: variables)
      let text = try await blocking { try ChildProcess.run("/bin/cat", [pipe]).output }
      let process = try #require(pid_t(text))
      #expect(isRunning(process))
      run.kill()
      while isRunning(process) {}
    }
  }
}
