import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import Testing

@testable import PandoCommand

/// `pando top`.
@Suite struct TopTests {
  private func withStore(_ body: (String) throws -> Void) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      try PandoProcess.output(
        "import", store, "-", "--root", "Person:id", "--collection", "people",
        input: #"[{"id":1,"name":"Ada"},{"id":2,"name":"Bob"}]"#)
      try body(store)
    }
  }

  @Test func `a look has the figures, and the newest changes first`() throws {
    try withStore { store in
      try PandoProcess.output("set", store, "Person:2", #"{"id":2,"name":"Bob B."}"#)
      let lines = try PandoProcess.output("top", store, "--count", "1").split(separator: "\n")
      #expect(lines.first == "pando top: \(store), commit 2")
      #expect(lines.contains { $0.hasPrefix("nodes") && $0.hasSuffix(" 2") })
      let changes = lines.drop { $0 != "newest changes" }.dropFirst()
      #expect(
        Array(changes) == [
          "         2  updated   Person:2", "         1  inserted  Person:1",
          "         1  inserted  Person:2", "         1  list      people",
        ])
    }
  }

  @Test func `each look is an object, with rates from the second on`() throws {
    try withStore { store in
      let process = try ChildProcess("pando", ["top", store, "--json"])
      let first = try TreeValue(json: #require(process.nextLine()))
      #expect(first["commit"] == 1)
      #expect(first["nodes"] == 2)
      #expect(first["commitsPerSecond"] == .null)
      #expect(first["mostCommitsBehind"] == 0)
      try PandoProcess.output("set", store, "Person:3", #"{"id":3,"name":"Cy"}"#)
      var later = first
      while later["commit"] != 2 { later = try TreeValue(json: #require(process.nextLine())) }
      guard case .double(let rate)? = later["commitsPerSecond"] else {
        Issue.record("no rate: \(later)")
        return
      }
      #expect(rate > 0 && rate <= 1.5)
      process.send(SIGTERM)
      #expect(process.wait() == 0)
    }
  }

  @Test func `a reader of an old version is named with its process`() throws {
    try withStore { store in
      // Nobody reads its output, so it stays inside its read.
      try PandoProcess.output(
        "import", store, "-", "--root", "Big:id", "--collection", "big",
        input: "["
          + (0..<3000).map { #"{"id":\#($0),"text":"\#(String(repeating: "x", count: 100))"}"# }
          .joined(separator: ",") + "]")
      let reader = try ChildProcess("pando", ["dump", store])
      _ = reader.nextLine()
      try PandoProcess.output("set", store, "Person:2", #"{"id":2,"name":"Bob B."}"#)
      let text = try PandoProcess.output("top", store, "--count", "1")
      #expect(text.contains("  process \(reader.identifier) reads a version 1 commit behind\n"))
      #expect(try PandoProcess.output("stat", store).contains("1 commit behind\n"))
      let json = try TreeValue(json: PandoProcess.output("stat", store, "--json"))
      #expect(json["mostCommitsBehind"] == 1)
      while reader.nextLine() != nil {}
      #expect(reader.wait() == 0)
    }
  }

  @Test func `on a terminal it takes the window, and gives it back at Q`() throws {
    try withStore { store in
      let line = "printf q | script -qec '\(PandoProcess.path) top \(store)' /dev/null"
      let outcome = try PandoProcess.shell(line)
      #expect(outcome.status == 0)
      let begin = try #require(outcome.output.range(of: "\u{1B}[?1049h"))
      let end = try #require(outcome.output.range(of: "\u{1B}[?1049l"))
      #expect(begin.upperBound < end.lowerBound)
    }
  }

  @Test func `output without room in the window is cut off`() {
    let frame = TerminalWindow.frame(
      ["12345678", "12", "34"], TerminalWindow.Size(rows: 2, columns: 4))
    #expect(frame == "\u{1B}[H\u{1B}[2K1234\r\n\u{1B}[2K12")
    let higher = TerminalWindow.frame(["12"], TerminalWindow.Size(rows: 2, columns: 4))
    #expect(higher == "\u{1B}[H\u{1B}[2K12\r\n\u{1B}[J")
  }

  @Test func `without a store it says so`() throws {
    #expect(try PandoProcess.failure(1, "top", "/nowhere/store").contains("there is no store"))
  }
}
