import Foundation
import ModelCore
import TestSupport
import Testing

/// The main use of the command: a file of tweets becomes a store whose statuses share their users.
@Suite struct TweetTests {
  /// The file that the checks run on, and what is in it.
  private struct Source {
    let path: String
    let mapping: [String]
    let statuses: [TreeValue]
    let storedStatusCount: Int
    let storedUserCount: Int
    /// How many statuses the most active user has at least; in the real answer nobody has two.
    let statusesOfOneUser: Int
  }

  @Test func `the fixture comes back, changes everywhere, and stays clean`() throws {
    try withTemporaryDirectory { directory throws in
      let path = directory + "/tweets.json"
      try TweetFixture.document.json(isPretty: true).write(
        toFile: path, atomically: true, encoding: .utf8)
      try check(
        Source(
          path: path, mapping: TweetFixture.mapping,
          statuses: TweetFixture.document["statuses"]?.arrayValue ?? [],
          storedStatusCount: TweetFixture.storedStatusCount,
          storedUserCount: TweetFixture.userCount, statusesOfOneUser: 2),
        in: directory)
    }
  }

  /// A search for tweets as it was answered in 2014, where it lies beside the package.
  private static let realPath = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("shared/data/twitter.json").path

  @Test(.enabled(if: FileManager.default.fileExists(atPath: realPath)))
  func `a real answer comes back, changes everywhere, and stays clean`() throws {
    let text = try String(contentsOfFile: TweetTests.realPath, encoding: .utf8)
    let document = try TreeValue(json: text)
    try withTemporaryDirectory { directory throws in
      try check(
        Source(
          path: TweetTests.realPath,
          mapping: [
            "--map", "statuses=Status:id_str", "--map", "user=User:id_str",
            "--map", "retweeted_status=Status:id_str",
          ],
          statuses: document["statuses"]?.arrayValue ?? [],
          storedStatusCount: 115, storedUserCount: 115, statusesOfOneUser: 1),
        in: directory)
    }
  }

  private func check(_ source: Source, in directory: String) throws {
    let store = directory + "/store"
    let outcome = try PandoProcess.run(["import", store, source.path, "--json"] + source.mapping)
    try #require(outcome.status == 0, "\(outcome)")
    let report = try TreeValue(json: outcome.output)
    #expect(report["stored"]?["Status"] == .integer(Int64(source.storedStatusCount)))
    #expect(report["stored"]?["User"] == .integer(Int64(source.storedUserCount)))
    #expect(report["trees"] == .integer(Int64(source.statuses.count)))
    #expect(report["differing"] == 0)
    #expect(report["leftOut"] == ["search_metadata": 1])
    try expectClean(store)

    try checkThatAllComesBack(source, store)
    try checkSharedStatuses(source, store)
    let (user, statuses) = try mostActiveUser(source)
    try #require(statuses.count >= source.statusesOfOneUser)
    let parents = try PandoProcess.output("parents", store, user)
    for status in statuses { #expect(parents.contains(status + "\n")) }

    try PandoProcess.output("set", store, user, #"{"name":"Somebody else"}"#, "--merge")
    for status in statuses {
      let changed = try TreeValue(json: PandoProcess.output("get", store, status))
      #expect(changed["user"]?["name"] == "Somebody else")
      #expect(changed["user"]?["id_str"] == .string(String(user.dropFirst("User:".count))))
    }
    try expectClean(store)

    let deleted = try PandoProcess.output("delete", store, user)
    #expect(deleted.hasPrefix("deleted\t\(user)\n"))
    for status in statuses {
      #expect(deleted.contains("updated\t\(status)\n"))
      let changed = try TreeValue(json: PandoProcess.output("get", store, status))
      #expect(changed["user"] == .null)
    }
    try PandoProcess.failure(1, "get", store, user)
    try expectClean(store)
  }

  private func checkThatAllComesBack(_ source: Source, _ store: String) throws {
    #expect(!source.statuses.isEmpty)
    for status in source.statuses {
      let identifier = "Status:" + (status["id_str"]?.stringValue ?? "")
      let text = try PandoProcess.output("get", store, identifier)
      #expect(try TreeValue(json: text) == status, "\(identifier)")
    }
  }

  /// A status that several others repeat is stored once, and all of them are its parents.
  private func checkSharedStatuses(_ source: Source, _ store: String) throws {
    var parents: [String: Set<String>] = [:]
    for status in source.statuses {
      guard let repeated = status["retweeted_status"]?["id_str"]?.stringValue else { continue }
      parents[repeated, default: []].insert("Status:" + (status["id_str"]?.stringValue ?? ""))
    }
    let (shared, expected) = try #require(parents.max { $0.value.count < $1.value.count })
    try #require(expected.count >= 2)
    let lines = try PandoProcess.output("parents", store, "Status:" + shared).split(separator: "\n")
    #expect(Set(lines.map(String.init)) == expected)
  }

  /// The user with the most statuses at the top, and their identifiers.
  private func mostActiveUser(_ source: Source) throws -> (String, [String]) {
    var statuses: [String: [String]] = [:]
    for status in source.statuses {
      let user = status["user"]?["id_str"]?.stringValue ?? ""
      statuses["User:" + user, default: []].append(
        "Status:" + (status["id_str"]?.stringValue ?? ""))
    }
    let (user, theirs) = try #require(
      statuses.max { ($0.value.count, $1.key) < ($1.value.count, $0.key) })
    return (user, theirs)
  }

  private func expectClean(_ store: String) throws {
    #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
  }
}
