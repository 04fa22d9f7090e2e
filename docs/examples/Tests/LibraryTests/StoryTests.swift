import Foundation
import PandoFixtures
import Testing

@testable import library

@Suite struct StoryTests {
  @Test func `the story holds, line by line, with processes that are killed`() async throws {
    let run = try await Library.run()
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let numbered = run.lines.compactMap { line in
      line.split(separator: " ", maxSplits: 1).first.flatMap { Int($0) }
    }
    #expect(numbered == Array(1...44))
    #expect(run.lines.last == "The story holds: 44 lines, each as it should be.")
  }

  @Test func `26 the numbers that the server gives are in every view`() async throws {
    let run = try await Library.run()
    let loans = run.lines.last { $0.contains("Loans") }
    #expect(loans?.contains("Ada has Frankenstein by Mary Shelley") == true, "\(run)")
    #expect(run.lines.contains { $0.contains("Frankenstein (new)") })
    #expect(run.lines.last { $0.contains("Catalogue") }?.contains("Frankenstein (no. 3)") == true)
  }

  @Test func `a refused change is undone, and the later change is sent without it`()
    async throws
  {
    let run = try await Library.run()
    let lines = run.lines.map { $0.drop { !$0.isLetter } }
    #expect(
      lines.contains("Server     stores PUT /books/2: author 3, title “Emma, annotated”"), "\(run)")
    #expect(lines.last { $0.hasPrefix("Desk") }?.contains("Emma, annotated is synced") == true)
  }

  @Test func `two stories at once, and nothing is left behind`() async throws {
    try await withTemporaryDirectory { directory in
      let environment = ["TMPDIR": directory]
      async let first = Library.run(environment: environment)
      async let second = Library.run(environment: environment)
      let status = try await [first.status, second.status]
      #expect(status == [0, 0])
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    }
  }

  @Test(arguments: [
    (["--colour"], 2), (["--server", "70000"], 2), (["--session", "1"], 2),
    (["--directory", "/dev/null/library"], 1),
  ])
  func `a failure is one line on standard error`(
    arguments: [String], status: Int
  ) async throws {
    let run = try await Library.run(arguments)
    #expect(Int(run.status) == status && run.output.isEmpty, "\(run)")
    #expect(run.errors.hasPrefix("library: ") && run.errors.count { $0 == "\n" } == 1, "\(run)")
  }

  @Test func `the help names every option`() async throws {
    let run = try await Library.run(["--help"])
    #expect(run.status == 0 && run.errors.isEmpty)
    for option in ["--directory", "--server", "--hold", "--session"] {
      #expect(run.output.contains(option))
    }
  }

  @MainActor
  @Test func `a line that is another one ends the story`() throws {
    let log = Log(prints: false)
    log.step("A step")
    try log.tell(["A|one", "B|two"], "A|one", "B|two")
    #expect(throws: StoryError("“A step”: line 3 should be: A|one")) {
      try log.tell(["A|another"], "A|one")
    }
    #expect(throws: StoryError("“A step”: missing at its end: A|one")) {
      try log.tell([], "A|one")
    }
    #expect(throws: StoryError("“A step”: line 5 should not be there")) {
      try log.tell(["A|one", "A|two"], "A|one")
    }
  }
}

/// The built program `library`.
enum Library {
  /// Runs it to its end.
  ///
  /// - Parameters:
  ///   - arguments: Its arguments.
  ///   - environment: The additional variables of its environment.
  /// - Returns: Its output and its end.
  /// - Throws: The reason why it can't be run.
  static func run(
    _ arguments: [String] = [], environment: [String: String] = [:]
  ) async throws -> ChildProcess.Run {
    try await blocking {
      try ChildProcess.run("library", arguments, environment: environment)
    }
  }
}
