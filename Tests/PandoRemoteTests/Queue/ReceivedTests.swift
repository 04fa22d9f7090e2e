import FoundationEssentials
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// Messages that a server sends by itself are ordered like answers.
@Suite struct ReceivedTests {
  private let server = APIClientDouble()
  private let one = Volume(id: .remote(1), title: "one")

  private func withVolumes(
    _ body: (CoreManagerContainer, CoreManager<Volume>, ModelStore) async throws -> Void
  ) async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Volume.self, client: server, diskStoreConfig: .store(store))
      try await body(container, container[Volume.self], store)
      await container.close()
    }
  }

  private func renamed(_ title: String) -> Volume {
    var volume = one
    volume.title = title
    return volume
  }

  @Test func `an edit that waits is newer than a message`() async throws {
    try await withVolumes { container, volumes, store in
      server.answer(.put, "/volumes/1", with: APIResponse(status: 204))
      try await volumes.set(one)
      server.isOffline = true
      let edit = try await volumes.updateIfPresent(byID: .remote(1), in: .localAndRemote) {
        $0.title = "mine"
      }
      #expect(try await volumes.received(renamed("older"))?.title == "mine")
      #expect(try await store.read { try $0.synchronizationState(of: one.id) } == .pending)
      server.isOffline = false
      container.clientQueue?.flush()
      try await edit?.confirmed()
      #expect(try await volumes.get(byID: .remote(1))?.title == "mine")
      #expect(try await store.read { try $0.synchronizationState(of: one.id) } == .synced)
      // What the server says later counts.
      #expect(try await volumes.received(renamed("newer"))?.title == "newer")
    }
  }

  @Test func `a message of a moment before a write comes too late`() async throws {
    try await withVolumes { _, volumes, _ in
      try await volumes.set(one)
      let before = try await volumes.currentMoment()
      try await volumes.set(renamed("mine"))
      #expect(try await volumes.received(renamed("older"), asOf: before)?.title == "mine")
      let after = try await volumes.currentMoment()
      #expect(try await volumes.received(renamed("newer"), asOf: after)?.title == "newer")
    }
  }

  @Test func `of two messages the newer one counts, in whatever order they come`() async throws {
    try await withVolumes { _, volumes, _ in
      let first = try await volumes.currentMoment()
      try await volumes.set(Volume(id: .remote(2), title: "other"))
      let second = try await volumes.currentMoment()
      try await volumes.received(renamed("second"), asOf: second)
      try await volumes.received(renamed("first"), asOf: first)
      #expect(try await volumes.get(byID: .remote(1))?.title == "second")
    }
  }

  @Test func `a local removal stays in effect for older messages`() async throws {
    try await withVolumes { _, volumes, _ in
      try await volumes.set(one)
      let before = try await volumes.currentMoment()
      try await volumes.remove(atID: .remote(1))
      #expect(try await volumes.received(one, asOf: before) == nil)
      #expect(try await volumes.get(byID: .remote(1)) == nil)
      #expect(try await volumes.received(one)?.title == "one")
    }
  }

  @Test func `a removal that a server tells of is as old as its message`() async throws {
    try await withVolumes { _, volumes, _ in
      try await volumes.set([one, Volume(id: .remote(2), title: "two")])
      let before = try await volumes.currentMoment()
      try await volumes.set(renamed("mine"))
      try await volumes.received([], removed: [.remote(1), .remote(2)], asOf: before)
      #expect(try await volumes.all().entities.map(\.title) == ["mine"])
      // An edit that waits keeps its entity: the answer to it decides.
      server.isOffline = true
      try await volumes.set(renamed("waits"), in: .localAndRemote)
      try await volumes.received([], removed: [.remote(1)])
      #expect(try await volumes.all().entities.map(\.title) == ["waits"])
    }
  }

  @Test func `only an entity that a server has sent or confirmed is synced`() async throws {
    try await withVolumes { container, volumes, store in
      func states() throws -> [SynchronizationState] {
        try store.read { snapshot in
          try (1...3).map { number in
            try snapshot.synchronizationState(of: EntityIdentifier<Volume>.remote(number))
          }
        }
      }
      func found(_ state: SynchronizationState) async throws -> [String] {
        let query = Query<Volume>(filter: .synchronizationState(state))
        return try await volumes.search(withQuery: query).entities.map(\.title).sorted()
      }
      #expect(try states() == [.unsynced, .unsynced, .unsynced])
      try await volumes.set(one)
      try await volumes.received(Volume(id: .remote(2), title: "two"))
      #expect(try states() == [.unsynced, .synced, .unsynced])
      #expect(try await found(.unsynced) == ["one"])
      #expect(try await found(.synced) == ["two"])
      // A confirmation without a body says that the server has what was sent.
      server.answer(.put, "/volumes/1", with: APIResponse(status: 204))
      try await volumes.set(one, in: .localAndRemote).confirmed()
      #expect(try states() == [.synced, .synced, .unsynced])
      // A local edit the server does not know of.
      try await volumes.updateIfPresent(byID: .remote(2)) { $0.title = "2" }
      #expect(try states() == [.synced, .unsynced, .unsynced])
      try await volumes.received(Volume(id: .remote(2), title: "2"))
      #expect(try states() == [.synced, .synced, .unsynced])
      try await volumes.remove(atID: .remote(1))
      #expect(try states() == [.unsynced, .synced, .unsynced])
    }
  }

  @Test func `a followed query by state changes when a server sends a stored entity`()
    async throws
  {
    try await withVolumes { _, volumes, _ in
      try await volumes.set(one)
      let query = Query<Volume>(filter: .synchronizationState(.synced))
      var values = volumes.follow(query).makeAsyncIterator()
      #expect(try await values.next()?.entities == [])
      try await volumes.received(one)
      #expect(try await values.next()?.entities == [one])
      try await volumes.set(one)
      #expect(try await values.next()?.entities == [])
    }
  }

  @Test func `an edit that waits in memory is newer than a message`() async throws {
    let container = try CoreManagerContainer(
      entities: Volume.self, cacheLimit: 10, client: server, diskStoreConfig: .none)
    let volumes = container[Volume.self]
    server.answer(.put, "/volumes/1", with: APIResponse(status: 204))
    try await volumes.set([one, Volume(id: .remote(2), title: "two")])
    server.isOffline = true
    let edit = try await volumes.updateIfPresent(byID: .remote(1), in: .localAndRemote) {
      $0.title = "mine"
    }
    let other = Volume(id: .remote(2), title: "newer")
    let stored = try await volumes.received([renamed("older"), other])
    #expect(stored.map(\.title) == ["mine", "newer"])
    try await volumes.received([], removed: [.remote(1)])
    #expect(try await volumes.get(byID: .remote(1))?.title == "mine")
    server.isOffline = false
    container.clientQueue?.flush()
    try await edit?.confirmed()
    #expect(try await volumes.received(renamed("newer"))?.title == "newer")
    await container.close()
  }

  @Test func `messages have an age in memory, too`() async throws {
    let volumes = CoreManager<Volume>(stores: [InMemoryStore()])
    try await volumes.set(one)
    let before = try await volumes.currentMoment()
    try await volumes.set(renamed("mine"))
    #expect(try await volumes.received(renamed("older"), asOf: before)?.title == "mine")
    try await volumes.received([], removed: [.remote(1)], asOf: before)
    #expect(try await volumes.received(renamed("newer"))?.title == "newer")
    try await volumes.received([], removed: [.remote(1)])
    #expect(try await volumes.get(byID: .remote(1)) == nil)
  }

  @Test(arguments: [false, true])
  func `a value that an entity type keeps locally is not synced`(isUnderstood: Bool) async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Poem.self, Verse.self, client: server, diskStoreConfig: .store(store))
      let poems = container[Poem.self]
      func state(_ identifier: String = "Poem:1") throws -> SynchronizationState {
        try store.read { try $0.synchronizationState(of: identifier) }
      }
      let first = Poem(id: .remote(1), revision: 2, title: "here", verses: [Verse("a", "here")])
      try await poems.set(first)
      // Refused: an older revision.
      var answer = Poem(id: .remote(1), revision: 1, title: "there", verses: [Verse("a", "there")])
      try await poems.received(answer)
      #expect(try (state(), state("Verse:a")) == (.unsynced, .unsynced))
      // Mixed: the title is that of here.
      answer.revision = 3
      answer.title = ""
      #expect(try await poems.received(answer)?.title == "here")
      #expect(try (state(), state("Verse:a")) == (.unsynced, .synced))
      if isUnderstood {
        answer.title = "here"
        try await poems.received(answer)
        #expect(try state() == .synced)
        // What was a server's mixes with what is a server's.
        answer.title = ""
        answer.revision = 4
        #expect(try await poems.received(answer)?.title == "here")
        #expect(try state() == .synced)
        answer.revision = 3
        try await poems.received(answer)
        #expect(try state() == .synced)
      }
      await container.close()
    }
  }

  @Test(arguments: [false, true])
  func `a write that the entity type does not store is sent, and makes nothing synced`(
    hasBody: Bool
  ) async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Poem.self, Verse.self, client: server, diskStoreConfig: .store(store))
      let poems = container[Poem.self]
      func states() throws -> [SynchronizationState] {
        try store.read { snapshot in
          try ["Poem:1", "Verse:a"].map { try snapshot.synchronizationState(of: $0) }
        }
      }
      let newer = Poem(id: .remote(1), revision: 11, title: "here", verses: [Verse("a", "here")])
      let older = Poem(id: .remote(1), revision: 3, title: "sent", verses: [Verse("a", "sent")])
      func answer(_ poem: Poem) throws -> APIResponse {
        hasBody
          ? APIResponse(status: 200, body: try JSONEncoder().encode(poem))
          : APIResponse(status: 204)
      }
      try await poems.set(newer)
      server.answer(.put, "/poems/1", with: try answer(older))
      try await poems.set(older, in: .localAndRemote).confirmed()
      #expect(try await poems.get(byID: .remote(1)) == newer)
      #expect(try states() == [.unsynced, .unsynced])
      var newest = newer
      newest.revision = 12
      server.answer(.put, "/poems/1", with: try answer(newest))
      try await poems.set(newest, in: .localAndRemote).confirmed()
      #expect(try states() == [.synced, .synced])
      await container.close()
    }
  }

  @Test func `an answer without a locally removed child is not synced`() async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Poem.self, Verse.self, client: server, diskStoreConfig: .store(store))
      let poems = container[Poem.self]
      func states() throws -> [SynchronizationState] {
        try store.read { snapshot in
          try ["Poem:1", "Verse:a", "Verse:b"].map { try snapshot.synchronizationState(of: $0) }
        }
      }
      let poem = Poem(
        id: .remote(1), revision: 1, title: "t", verses: [Verse("a", "a"), Verse("b", "b")])
      try await poems.received(poem)
      #expect(try states() == [.synced, .synced, .synced])
      let before = try await poems.currentMoment()
      try await store.write { try $0.deleteIfPresent("Poem:1") }
      try await container[Verse.self].remove(atID: .remote("a"))
      try await container[Verse.self].set(Verse("b", "mine"))
      var next = poem
      next.id = .remote(2)
      #expect(try await poems.received(next, asOf: before)?.verses == [Verse("b", "mine")])
      let state = try store.readAndWait { try $0.synchronizationState(of: next.id) }
      #expect(state == .unsynced)
      #expect(try states() == [.unsynced, .unsynced, .unsynced])
      // Now the server has heard of it.
      next.verses = [Verse("b", "mine")]
      try await poems.received(next)
      #expect(try store.readAndWait { try $0.synchronizationState(of: next.id) } == .synced)
      #expect(try states() == [.unsynced, .unsynced, .synced])
      await container.close()
    }
  }
}

/// Takes newer revisions only, and keeps a title that a server does not send.
private struct Poem: PersistentEntity, RemoteEntity, Equatable {
  static let endpoint: APIPath = "/poems"
  typealias RemoteID = Int
  var id: EntityIdentifier<Poem>
  var revision: Int
  var title: String
  var verses: [Verse]

  func shouldOverwrite(with new: Poem) -> Bool { new.revision > revision }

  func merging(_ new: Poem) -> Poem {
    var merged = new
    if new.title.isEmpty { merged.title = title }
    return merged
  }
}

private struct Verse: PersistentEntity, RemoteEntity, Equatable {
  static let endpoint: APIPath = "/verses"
  typealias RemoteID = String
  var id: EntityIdentifier<Verse>
  var text: String

  init(_ key: String, _ text: String) { (id, self.text) = (.remote(key), text) }
}
