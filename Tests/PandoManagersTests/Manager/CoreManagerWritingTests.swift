import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// Writes to a stack in which a store of the program's own fails.
@Suite struct CoreManagerWritingTests {
  private func volume(_ title: String, _ number: Int = 7) -> Volume {
    Volume(id: .remote(number), title: title)
  }

  // Such a write had the sequence number 0, so that each answer to it counted as late.
  @Test func `an answer is stored for a type that declares no server`() async throws {
    let store = try ModelStore.inMemory()
    let tracks = CoreManager<Track>(stores: [DiskStore(modelStore: store), LoudServer()])
    let written = try await tracks.set([Track(1, "a"), Track(2, "b")], in: .localAndRemote)
    #expect(written.value.map(\.title) == ["A", "B"])
    let update = try await tracks.update(byID: .remote(1), in: .localAndRemote) { $0.title = "c" }
    #expect(update.value.title == "C")
    #expect(try await tracks.all().entities.map(\.title) == ["C", "B"])
    await store.close()
  }

  @Test func `a change after the request wins for a type that declares no server`() async throws {
    let store = try ModelStore.inMemory()
    let server = ScriptedStore<Track>()
    let tracks = CoreManager<Track>(stores: [DiskStore(modelStore: store), server])
    server.beforeAnswer { _ = try? await tracks.set(Track(1, "later")) }
    let written = try await tracks.set(Track(1, "sent"), in: .localAndRemote)
    #expect(written.value.title == "later")
    server.beforeAnswer { _ = try? await tracks.remove(atID: .remote(1)) }
    await #expect(throws: ManagerError.self) {
      try await tracks.set(Track(1, "again"), in: .localAndRemote)
    }
    #expect(try await tracks.all().isEmpty)
    await store.close()
  }

  // The write was thrown after its commit. The nearer store then showed the former value, and the
  // stored request was not sent before another write.
  @Test func `a nearer store that fails neither undoes nor hides a write`() async throws {
    try await QueueFixture.with { _ in
      .json(#"{"id":7,"title":"new"}"#)
    } _: { fixture in
      let nearer = ScriptedStore<Volume>(.memory)
      let events = Locked<[ManagerEvent.Kind]>([])
      let manager = CoreManager<Volume>(stores: [
        nearer, DiskStore(modelStore: fixture.store), RemoteStore(clientQueue: fixture.queue),
      ]) { event in events.withLock { $0.append(event.kind) } }
      try await manager.set([volume("old"), volume("other", 8)])
      #expect(nearer.entities.map(\.title) == ["old", "other"])
      nearer.fail(.broken("memory"))
      let written = try await manager.set(volume("new"), in: .localAndRemote)
      #expect(written.value.title == "new" && written.state == .queued)
      #expect(try await written.confirmed().title == "new")
      #expect(fixture.server.requests.count == 1)
      #expect(events.withLock { $0 } == [.failedStore])
      // The store answers again, with the former value.
      nearer.fail(nil)
      #expect(nearer.entities.map(\.title) == ["old", "other"])
      #expect(try await manager.get(byID: .remote(7))?.title == "new")
      let titles = try await manager.all().entities.map(\.title)
      #expect(Set(titles) == ["new", "other"])
      // The next write sends what it has missed.
      try await manager.set(volume("third", 9))
      #expect(Set(nearer.entities.map(\.title)) == ["new", "other", "third"])
      let reads = nearer.calls.count
      #expect(try await manager.get(byID: .remote(7))?.title == "new")
      #expect(nearer.calls.count == reads + 1)
      #expect(events.withLock { $0 } == [.failedStore])
    }
  }

  // The nearer store kept the sent value: the answer was written without it.
  @Test func `a nearer store has what a queue's answer changes`() async throws {
    try await QueueFixture.with { _ in
      .json(#"{"id":7,"title":"by the server"}"#)
    } _: { fixture in
      let nearer = ScriptedStore<Volume>(.memory)
      let manager = CoreManager<Volume>(stores: [
        nearer, DiskStore(modelStore: fixture.store), RemoteStore(clientQueue: fixture.queue),
      ])
      let written = try await manager.set(volume("sent"), in: .localAndRemote)
      #expect(try await written.confirmed().title == "by the server")
      #expect(try await manager.get(byID: .remote(7))?.title == "by the server")
      #expect(nearer.entities.map(\.title) == ["by the server"])
    }
  }

  @Test func `a nearer store has what other writers change`() async throws {
    try await withModelStore { store in
      let nearer = ScriptedStore<Book>(.memory)
      let manager = CoreManager<Book>(stores: [nearer, DiskStore(modelStore: store)])
      let other = CoreManager<Book>(stores: [DiskStore(modelStore: store)])
      try await manager.set([Book("1", "one"), Book("2", "two"), Book("3", "three")])
      try await other.set(Book("1", "changed"))
      #expect(try await manager.get(byID: .remote("1"))?.title == "changed")
      try await other.remove(atID: .remote("2"))
      #expect(try await manager.get(byID: .remote("2")) == nil)
      try await other.set(Book("3", "changed too"))
      #expect(try await Set(manager.all().entities.map(\.title)) == ["changed", "changed too"])
      #expect(Set(nearer.entities.map(\.title)) == ["changed", "changed too"])
      // The nearer store is read again.
      nearer.fail(.broken("memory"))
      #expect(try await manager.get(byID: .remote("1"))?.title == "changed")
      #expect(nearer.calls.last.map { "\($0)".contains("get") } == true)
    }
  }

  @Test func `a nearer store is emptied after more changes than are sent`() async throws {
    try await withModelStore { store in
      let nearer = ScriptedStore<Book>(.memory)
      let manager = CoreManager<Book>(stores: [nearer, DiskStore(modelStore: store)])
      let other = CoreManager<Book>(stores: [DiskStore(modelStore: store)])
      try await manager.set([Book("1", "one"), Book("2", "two")])
      try await other.set((1...10_001).map { Book("\($0)", "changed \($0)") })
      #expect(try await manager.get(byID: .remote("1"))?.title == "changed 1")
      #expect(try await manager.get(byID: .remote("10001"))?.title == "changed 10001")
      #expect(nearer.entities.isEmpty)
      try await manager.set(Book("2", "again"))
      #expect(nearer.entities.map(\.title) == ["again"])
    }
  }

  @Test func `a removal stands if a nearer store fails`() async throws {
    try await withModelStore { store in
      let nearer = ScriptedStore<Book>(.memory)
      let manager = CoreManager<Book>(stores: [nearer, DiskStore(modelStore: store)])
      try await manager.set([Book("1", "one"), Book("2", "two"), Book("3", "three")])
      nearer.fail(.broken("memory"))
      try await manager.remove(atID: .remote("1"))
      try await manager.removeAll(withQuery: Query(filter: \Book.title == "two"))
      nearer.fail(nil)
      #expect(nearer.entities.count == 3)
      #expect(try await manager.get(byID: .remote("1")) == nil)
      #expect(try await manager.all().entities.map(\.title) == ["three"])
      try await manager.set(Book("3", "drei"))
      #expect(nearer.entities.map(\.title) == ["drei"])
    }
  }

  @Test func `a response of a server is stored and returned if a nearer store fails`() async throws
  {
    try await withModelStore { store in
      let nearer = ScriptedStore<Book>(.memory)
      let remote = ScriptedStore<Book>(.remote, [Book("1", "new")])
      let manager = CoreManager<Book>(stores: [nearer, DiskStore(modelStore: store), remote])
      try await manager.set(Book("1", "old"))
      nearer.fail(.broken("memory"))
      #expect(try await manager.get(byID: .remote("1"), in: .remote())?.title == "new")
      nearer.fail(nil)
      #expect(try await manager.get(byID: .remote("1"))?.title == "new")
      remote.fail(.notFound)
      _ = try? await manager.get(byID: .remote("1"), in: .remote())
      #expect(nearer.entities.isEmpty)
      #expect(try await manager.get(byID: .remote("1")) == nil)
    }
  }

  @Test func `a removal that the farthest local store refuses is thrown and changes nothing`()
    async throws
  {
    let nearer = ScriptedStore<Book>(.memory, [Book("1", "one")])
    let disk = ScriptedStore<Book>(.disk, [Book("1", "one")])
    let manager = CoreManager<Book>(stores: [nearer, disk])
    disk.fail(.broken("disk"))
    let broken = TestFailure.broken("disk")
    await #expect(throws: broken) { try await manager.remove(atID: .remote("1")) }
    await #expect(throws: broken) { try await manager.remove([.remote("1")]) }
    await #expect(throws: broken) { try await manager.removeAll() }
    #expect(nearer.entities.map(\.title) == ["one"])
    #expect(try await manager.get(byID: .remote("1"))?.title == "one")
  }
}

/// A server that writes titles in capitals.
private struct LoudServer: Storing {
  let level = StoreLevel.remote

  func get(withQuery query: Query<Track>, in context: ReadContext<Track>) async throws
    -> QueryResult<Track>
  { .empty }

  func search(withQuery query: Query<Track>, in context: ReadContext<Track>) async throws
    -> QueryResult<Track>
  { .empty }

  func set(_ entities: [Track], in context: WriteContext<Track>) async throws -> [Track] {
    entities.map { track in
      var track = track
      track.title = track.title.uppercased()
      return track
    }
  }

  func remove(
    _ identifiers: [EntityIdentifier<Track>], in context: WriteContext<Track>
  ) async throws {}

  func removeAll(withQuery query: Query<Track>, in context: WriteContext<Track>) async throws
    -> [EntityIdentifier<Track>]
  { [] }
}
