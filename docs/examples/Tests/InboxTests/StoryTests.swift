import Foundation
import PandoFixtures
import Testing

@testable import inbox

@Suite struct StoryTests {
  /// The numbered lines: who, by which path, what.
  private func numbered(_ run: ChildProcess.Run) -> [[String]] {
    run.lines.compactMap { line in
      let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      return words.count == 4 && Int(words[0]) != nil ? words : nil
    }
  }

  @Test func `the story follows the order of the data flow, and holds`() async throws {
    let run = try await Shell.run("inbox")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let lines = numbered(run)
    #expect(lines.map { Int($0[0]) } == Array(1...lines.count))
    #expect(
      lines.map { "\($0[1]) \($0[2])" } == [
        "MessageView asks", "MessageView cache", "MessageView network", "Store commit",
        "SlowView asks", "SlowView network", "SlowCache cache", "SlowView cache",
        "ContactsView asks", "ContactsView cache", "ContactsView network", "MessageView notified",
        "Store commit",
        "MessageView notified", "ContactsView notified", "Store commit",
        "ContactsView own", "MessageView notified", "Store commit",
        "MessageView notified", "ContactsView notified", "Store commit",
        "MessageView notified", "ContactsView notified", "Store commit",
        "MessageView notified", "ContactsView notified", "Store commit",
        "ContactsView notified", "Store commit", "Service service",
        "MessageView asks", "MessageView cache", "MessageView network",
        "ContactsView asks", "ContactsView cache", "ContactsView network", "Service service",
      ])
    #expect(run.lines.last?.hasPrefix("The story holds") == true)
  }

  @Test func `a second run on the same directory shows from the store first, before the network`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let first = try await Shell.run("inbox --directory '\(directory)/store'")
      #expect(first.status == 0, "\(first)")
      #expect(numbered(first).dropFirst().first?[3] == "has no Message:34")
      let second = try await Shell.run("inbox --directory '\(directory)/store'")
      #expect(second.status == 0, "\(second)")
      let lines = numbered(second)
      #expect(
        lines.prefix(3).map { "\($0[1]) \($0[2]) \($0[3])" } == [
          "MessageView asks the cache and the network for Message:34",
          "MessageView cache shows “Lunch?” from Ada Lovelace (online), read by Linus (online)",
          "MessageView network shows “Lunch?” from Ada (offline), "
            + "read by Grace (online), Linus (offline)  ← the network",
        ])
      let contacts = lines.first { $0[1] == "ContactsView" && $0[2] == "cache" }
      #expect(contacts?[3].contains("Alan (offline), Linus (offline), Barbara (online)") == true)
    }
  }

  @Test func `nothing is left behind in the temporary directory`() async throws {
    try await withTemporaryDirectory { directory in
      let run = try await Shell.run("TMPDIR='\(directory)' inbox")
      #expect(run.status == 0, "\(run)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    }
  }

  @Test func `two services tell the story at once, each on a port of its own`() async throws {
    async let first = Shell.run("inbox")
    async let second = Shell.run("inbox")
    #expect(try await [first.status, second.status] == [0, 0])
  }

  @Test(arguments: [
    ("--colour", 2), ("--port 70000", 2), ("--directory", 2), ("--directory /dev/null/store", 1),
    ("--directory /proc/store", 1),
  ])
  func `a failure is one line on standard error`(
    arguments: String, status: Int32
  ) async throws {
    let run = try await Shell.run("inbox \(arguments)")
    #expect(run.status == status && run.output.isEmpty, "\(run)")
    #expect(run.errors.hasPrefix("inbox: ") && run.errors.count { $0 == "\n" } == 1, "\(run)")
  }

  @Test func `the help names every option`() async throws {
    let run = try await Shell.run("inbox --help")
    #expect(run.status == 0 && run.errors.isEmpty)
    for option in ["--directory", "--port", "--serve"] { #expect(run.output.contains(option)) }
  }

  @Test func `a reader that goes away in the middle is no failure`() async throws {
    let run = try await Shell.run("inbox | head -3; echo ${PIPESTATUS[0]}")
    #expect(run.lines.last == "0", "\(run)")
  }

  @MainActor
  @Test func `a step that goes otherwise ends the story with the line in question`() throws {
    let story = Story(directory: "unused", port: 0, log: Log(prints: false))
    let expected = [
      Expectation("View", .notified, "online", context: "a push"), Expectation("Store", .commit),
    ]
    story.log("View", .notified, "not of this step")
    story.step("A step")
    story.log("View", .notified, "Ada (online)", context: "a push")
    #expect(throws: StoryError("“A step”: Store, commit is missing at its end")) {
      try story.expect(expected)
    }
    story.log("Store", .commit, "number 1")
    try story.expect(expected)
    story.log("View", .notified, "again")
    #expect(throws: StoryError("“A step”: line 4 should not be there")) {
      try story.expect(expected)
    }
    story.step("Another step")
    story.log("View", .notified, "Ada (online)", context: "a tap")
    #expect(throws: StoryError("“Another step”: line 5 should be View, notified, online, ← a push"))
    {
      try story.expect(expected)
    }
  }
}
