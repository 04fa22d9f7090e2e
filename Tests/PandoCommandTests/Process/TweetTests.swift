import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
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
    /// Whether somebody wrote several of the statuses; else one status is retweeted several times.
    let hasAuthorOfSeveral: Bool
  }

  @Test func `the fixture is read back equal, changes everywhere, and stays clean`() throws {
    try withTemporaryDirectory { directory throws in
      let path = directory + "/tweets.json"
      try TweetFixture.document.json(isPretty: true).write(
        toFile: path, atomically: true, encoding: .utf8)
      try check(
        Source(
          path: path, mapping: TweetFixture.mapping,
          statuses: TweetFixture.document["statuses"]?.arrayValue ?? [],
          storedStatusCount: TweetFixture.storedStatusCount,
          storedUserCount: TweetFixture.userCount, hasAuthorOfSeveral: true),
        in: directory)
    }
  }

  /// A search for tweets as it was answered in 2014, where it lies beside the package.
  private static let realPath = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("shared/data/twitter.json").path

  @Test(
    .enabled(
      if: FileManager.default.fileExists(atPath: realPath), "shared/data/twitter.json is not there")
  )
  func `a real answer is read back equal, changes everywhere, and stays clean`() throws {
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
          storedStatusCount: 115, storedUserCount: 115, hasAuthorOfSeveral: false),
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
    let user = try #require(sharedUser(source))
    #expect((user.holderCount >= 2) == source.hasAuthorOfSeveral)
    try checkParents(of: user, store)
    try PandoProcess.output(
      "set", store, user.identifier, #"{"name":"Somebody else"}"#, "--merge")
    for place in user.places {
      let changed = try self.user(at: place, store)
      #expect(changed?["name"] == "Somebody else")
      #expect("User:" + (changed?["id_str"]?.stringValue ?? "") == user.identifier)
    }
    try expectClean(store)

    let deleted = try PandoProcess.output("delete", store, user.identifier)
    #expect(deleted.hasPrefix("deleted\t\(user.identifier)\n"))
    for place in user.places {
      #expect(deleted.contains("updated\t\(place.holder)\n"))
      #expect(try self.user(at: place, store) == .null)
    }
    try PandoProcess.failure(1, "get", store, user.identifier)
    try expectClean(store)
  }

  private func checkParents(of user: SharedUser, _ store: String) throws {
    let parents = try PandoProcess.output("parents", store, user.identifier)
    #expect(Set(parents.split(separator: "\n").map(String.init)) == Set(user.places.map(\.holder)))
    let all = try PandoProcess.output("parents", store, user.identifier, "--all")
    #expect(
      Set(all.split(separator: "\n").map(String.init))
        == Set(user.places.flatMap { [$0.holder, $0.root] }))
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

  /// A user that several trees hold, and where.
  private struct SharedUser {
    struct Place {
      /// The status at the top of the tree.
      let root: String
      /// The status that holds the user: the root, or the one that it retweets.
      let holder: String
    }

    let identifier: String
    var places: [Place] = []

    var holderCount: Int { Set(places.map(\.holder)).count }
  }

  /// The user with the most statuses, and of those the one in the most trees.
  private func sharedUser(_ source: Source) -> SharedUser? {
    var users: [String: SharedUser] = [:]
    for top in source.statuses {
      for status in [top, top["retweeted_status"]].compactMap(\.self) {
        guard let root = top["id_str"]?.stringValue, let holder = status["id_str"]?.stringValue,
          let user = status["user"]?["id_str"]?.stringValue
        else { continue }
        let identifier = "User:" + user
        users[identifier, default: SharedUser(identifier: identifier)].places.append(
          .init(root: "Status:" + root, holder: "Status:" + holder))
      }
    }
    return users.values.filter { $0.places.count >= 2 }.max {
      ($0.holderCount, $0.places.count, $0.identifier)
        < ($1.holderCount, $1.places.count, $1.identifier)
    }
  }

  /// The user as the tree at a place shows it.
  private func user(at place: SharedUser.Place, _ store: String) throws -> TreeValue? {
    let tree = try TreeValue(json: PandoProcess.output("get", store, place.root))
    return place.root == place.holder ? tree["user"] : tree["retweeted_status"]?["user"]
  }

  private func expectClean(_ store: String) throws {
    #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
  }
}
