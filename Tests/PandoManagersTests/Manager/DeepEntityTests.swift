import PandoManagers
import PandoStore
import Testing

@testable import PandoManagersFixtures

/// A thread of replies: each holds the next.
private struct Reply: PersistentEntity {
  var id: EntityIdentifier<Reply>
  var text: String
  var replies: [Reply] = []

  /// The replies from the first to the last.
  var texts: [String] {
    var texts: [String] = []
    var next: Reply? = self
    while let reply = next {
      texts.append(reply.text)
      next = reply.replies.first
    }
    return texts
  }
}

/// Entities as deep as trees may be, through a manager, in memory and on disk.
@Suite struct DeepEntityTests {
  @Test(arguments: [0, 16])
  func `a thread of a thousand replies is set, read, changed and followed`(
    cacheLimit: Int
  ) async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Reply.self, cacheLimit: cacheLimit, diskStoreConfig: .store(store))
      let replies = container[Reply.self]
      var thread = Reply(id: .remote("999"), text: "999")
      for number in (0..<999).reversed() {
        thread = Reply(id: .remote("\(number)"), text: "\(number)", replies: [thread])
      }
      try await replies.set(thread)
      var followed = replies.follow(byID: .remote("0")).makeAsyncIterator()
      let texts = (0..<1_000).map { "\($0)" }
      #expect(try await replies.get(byID: .remote("0"))?.texts == texts)
      #expect(try await followed.next()??.texts == texts)
      try await replies.updateIfPresent(byID: .remote("999")) { $0.text = "last" }
      #expect(try await followed.next()??.texts.last == "last")
      #expect(try await replies.get(byID: .remote("0"))?.texts.last == "last")
      try await container.write { entities in
        try entities.updateIfPresent(Reply.self, .remote("0")) { $0.text = "first" }
      }
      #expect(try await replies.get(byID: .remote("0"))?.texts.first == "first")
      await container.close()
    }
  }
}
