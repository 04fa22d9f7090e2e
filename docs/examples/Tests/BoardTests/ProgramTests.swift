import Foundation
import Pando
import PandoFixtures
import ServiceFixtures
import Testing

@testable import board

@Suite struct ProgramTests {
  private func run(_ arguments: String...) async throws -> ChildProcess.Run {
    try await blocking { try ChildProcess.run("board", arguments) }
  }

  @Test func `the story holds, line by line`() async throws {
    let told = try await run()
    #expect(told.status == 0 && told.errors.isEmpty, "\(told)")
    let numbered = told.lines.compactMap { line in
      line.split(separator: " ", maxSplits: 1).first.flatMap { Int($0) }
    }
    #expect(numbered == Array(1...22))
    #expect(told.lines.last == "The story holds: 22 lines, each as it should be.")
  }

  @Test func `sample data can be queried, and each question is answered`() async throws {
    try await withTemporaryDirectory { directory in
      let store = "\(directory)/store"
      let made = try await run("make", "--store", store, "--issues", "300")
      let comments = (1...300).map { SampleData(issueCount: 300).comments(onIssue: $0).count }
      let counts = "made 300 issues, \(comments.reduce(0, +)) comments, 20 users in "
      #expect(made.status == 0 && made.output.hasPrefix(counts), "\(made)")
      let asked = try await run("ask", "--store", store)
      #expect(asked.status == 0 && asked.lines.count == 17, "\(asked)")
      #expect(asked.lines.allSatisfy { $0.contains(" µs  ") }, "\(asked)")
      #expect(!asked.output.contains("scan"), "\(asked)")
    }
  }

  @Test func `a failure is one line on standard error`() async throws {
    for (arguments, status) in [
      (["dance"], 2), (["serve"], 2), (["make", "--store"], 2), (["--colour"], 2),
      (["make", "--store", "x", "--issues", "0"], 2),
      (["serve", "--store", "x", "--port", "-1"], 2),
      (["serve", "--store", "/dev/null/board"], 1),
    ] {
      let run = try await blocking { try ChildProcess.run("board", arguments) }
      #expect(Int(run.status) == status && run.output.isEmpty, "\(run)")
      #expect(run.errors.hasPrefix("board: ") && run.errors.count { $0 == "\n" } == 1, "\(run)")
    }
    #expect(try await run("--help").status == 0)
  }

  @Test func `a line that is another one ends the story`() throws {
    let log = Log(prints: false)
    log.step("A step")
    try log.tell("one", "one")
    #expect(throws: StoryError("“A step”: line 2 should be: two")) { try log.tell("one", "two") }
  }

  @Test func `the data are the same in every run, and Ada makes most issues`() {
    #expect(data.issue(1_957).title == "The cache waits too long")
    let counts = Dictionary(grouping: allIssues, by: \.author.id).mapValues(\.count)
    #expect(counts[1] == counts.values.max())
  }
}
