import Foundation
import PandoFixtures
import PandoStore
import Testing

/// Stores that former versions of Pando have written: one file for each version of the format.
///
/// Each holds two posts in a list, a person who is in both, one who is in none any more, and what the
/// version can have beside: an index since 2, one of several fields and a unique one since 3. 4 is of a store
/// with a log, 5 of one that was written at the level `relaxed`.
@Suite struct FormatTests {
  private struct Person: Model, Codable, Equatable {
    var id: Int
    var name: String
    var modelIdentifier: String? { "Person:\(id)" }
  }

  private struct Post: Model, Codable, Equatable {
    var id: Int
    var title: String
    var author: Person
    var modelIdentifier: String? { "Post:\(id)" }
  }

  private static let ada = Person(id: 7, name: "Ada Lovelace")
  private static let posts = [
    Post(id: 1, title: "Dune", author: ada), Post(id: 2, title: "Emma", author: ada),
  ]

  private func withStore(of version: Int, _ body: (String) throws -> Void) throws {
    try withTemporaryDirectory { path throws in
      let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
      let outcome = try ChildProcess.run(
        "/bin/sh", ["-c", "zcat '\(folder)/Stores/version-\(version).mdb.gz' > '\(path)/data.mdb'"])
      try #require(outcome.status == 0, "\(outcome.errors)")
      try body(path)
    }
  }

  private func check(_ store: ModelStore, commit: UInt64) throws {
    try store.read { snapshot throws in
      #expect(try snapshot.commitNumber.value == commit)
      for post in Self.posts {
        #expect(try snapshot.get(post.modelIdentifier ?? "", as: Post.self) == post)
      }
      #expect(try snapshot.collection("posts", as: Post.self) == Self.posts)
      #expect(try snapshot.get("Person:8", as: Person.self) == Person(id: 8, name: "Bob"))
      #expect(try snapshot.parents(of: "Person:7").count == 2)
      #expect(try snapshot.changes(since: CommitNumber(value: 2)).map(\.deleted) == [["Post:3"]])
    }
    let report = try store.verify()
    #expect(report.isClean, "\(report.problems)")
  }

  @Test(arguments: [2, 3, 4, 5, 6])
  func `a store of a former version is read as it is`(version: Int) throws {
    try withStore(of: version) { path in
      var configuration = ModelStore.Configuration()
      configuration.isReadOnly = true
      let store = try ModelStore(path: path, configuration: configuration)
      try check(store, commit: 3)
      #expect(try store.statistics().formatVersion == version)
      store.close()
    }
  }

  @Test(arguments: [2, 3, 5, 6])
  func `the first commit gives a store of a former version the present one`(version: Int) throws {
    try withStore(of: version) { path in
      let store = try ModelStore(path: path)
      try check(store, commit: 3)
      let changed = Person(id: 7, name: "Ada")
      try store.write { try $0.set(changed) }
      try store.read { snapshot throws in
        #expect(try snapshot.get("Post:2", as: Post.self)?.author == changed)
      }
      #expect(try store.verify().isClean)
      #expect(try store.statistics().formatVersion == 6)
      store.close()
    }
  }

  @Test func `a store with a log is not written without it`() throws {
    try withStore(of: 4) { path in
      let store = try ModelStore(path: path)
      try check(store, commit: 3)
      let error = #expect(throws: StoreError.self) {
        try store.write { try $0.set(Person(id: 7, name: "Ada")) }
      }
      #expect(error?.code == .replicated)
      store.close()
    }
  }

  @Test(arguments: [2, 3, 4, 5, 6])
  func `its dump loads into a new store`(version: Int) throws {
    try withStore(of: version) { path in
      let store = try ModelStore(path: path)
      var lines: [String] = []
      try store.dump { lines.append($0) }
      store.close()
      let loaded = try ModelStore.temporary()
      let source = LineSource(lines)
      try loaded.load { source.next() }
      try loaded.read { snapshot throws in
        #expect(try snapshot.collection("posts", as: Post.self) == Self.posts)
      }
      #expect(try loaded.verify().isClean)
      loaded.close()
    }
  }

  @Test func `a store of version 1 says how to move`() throws {
    try withStore(of: 1) { path in
      let error = #expect(throws: StoreError.self) { try ModelStore(path: path) }
      #expect(error?.code == .unknownFormat)
      let text = error?.description ?? ""
      #expect(text.contains("has format version 1, this library reads version 2 to 6"))
      #expect(
        text.contains(
          "open it with the version of Pando that wrote it and move it with dump and load"))
    }
  }
}
