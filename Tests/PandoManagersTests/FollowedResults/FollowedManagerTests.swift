import Foundation
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

/// Following entities, queries and answers of managers.
@Suite struct FollowedManagerTests {
  private let jazz = Query(filter: \Track.genre == "jazz")

  @Test func `managers, providers and plain writes of one store are followed alike`()
    async throws
  {
    let store = try ModelStore.temporary(configuration: Following.configuration)
    let first = CoreManager<Track>(stores: [DiskStore(modelStore: store)])
    let second = CoreManager<Track>(stores: [InMemoryStore(), DiskStore(modelStore: store)])
    let providers = try DataModelManager(store: store)
    var values = first.follow(jazz).makeAsyncIterator()
    try await expectNext(&values, [])
    try await second.set(Track(1, genre: "jazz"))
    try await expectNext(&values, [Track(1, genre: "jazz")])
    let provider = DataProvider<Track>(dataModelManager: providers)
    try await provider.setData(Track(1, "A", genre: "jazz")).committed()
    try await expectNext(&values, [Track(1, "A", genre: "jazz")])
    try await store.write { try $0.deleteIfPresent("Track:1") }
    try await expectNext(&values, [])
    // And the other way round.
    try await first.set(Track(2, genre: "jazz"))
    try await expectNext(&values, [Track(2, genre: "jazz")])
    provider.fetchDataFromCache(withCacheKey: "Track:2") { _, _ in }
    await providers.drain()
    try await second.remove(atID: .remote(2))
    await providers.drain()
    #expect(provider.data == nil)
    await providers.close()
    await store.close()
  }

  @Test func `one entity, several, the first one and all`() async throws {
    let store = try ModelStore.temporary(configuration: Following.configuration)
    let manager = CoreManager<Track>(stores: [DiskStore(modelStore: store)])
    var one = manager.follow(byID: .remote(1)).makeAsyncIterator()
    var several = manager.follow(byIDs: [.remote(2), .remote(1)]).makeAsyncIterator()
    var newest = manager.followFirst(of: Query(order: [.descending(\.year)]))
      .makeAsyncIterator()
    var all = manager.followAll().makeAsyncIterator()
    #expect(try await one.next() == .some(nil))
    #expect(try await newest.next() == .some(nil))
    try await expectNext(&several, [])
    try await expectNext(&all, [])
    try await manager.set([Track(1, year: 3), Track(2, year: 5), Track(3, year: 4)])
    #expect(try await one.next() == Track(1, year: 3))
    #expect(try await newest.next() == Track(2, year: 5))
    try await expectNext(&several, [Track(2, year: 5), Track(1, year: 3)])
    #expect(try await all.next()?.count == 3)
    await store.close()
  }

  @Test func `entities in memory only are followed by the same rules`() async throws {
    let manager = CoreManager<Track>(stores: [InMemoryStore()])
    let query = Query(filter: \Track.genre == "jazz", order: [.ascending(\.year)], limit: 3)
    var values = manager.follow(query).makeAsyncIterator()
    try await expectNext(&values, [])
    var random = SeededGenerator(seed: 5)
    var last: [Track] = []
    for _ in 0..<300 {
      let number = Int.random(in: 0..<30, using: &random)
      if Bool.random(using: &random) {
        let genre = Bool.random(using: &random) ? "jazz" : "rock"
        let year = Int.random(in: 0..<9, using: &random)
        try await manager.set(Track(number, genre: genre, year: year))
      } else {
        try await manager.remove(atID: .remote(number))
      }
      let expected = try await manager.search(withQuery: query).entities
      if last == expected { continue }
      last = try #require(try await values.next()).entities
      try #require(last == expected)
    }
  }

  @Test func `the server's answer arrives on the continuous result`() async throws {
    let store = try ModelStore.temporary(configuration: Following.configuration)
    let remote = FakeRemote()
    let manager = CoreManager<Track>(stores: [DiskStore(modelStore: store), remote])
    try await manager.set(Track(1, genre: "jazz"))
    remote.answer.withLock { $0 = .success([Track(2, genre: "jazz")]) }
    let query = manager.follow(jazz, in: .localThen(.remote()))
    let both = [Track(1, genre: "jazz"), Track(2, genre: "jazz")]
    let last = try await query.first { $0.count == 2 }
    #expect(last?.entities.map(\.id) == both.map(\.id))
    // Without a connection what is here is followed all the same.
    remote.answer.withLock { $0 = .failure(Offline(remoteFailureKind: .connection)) }
    var offline = query.makeAsyncIterator()
    #expect(try await offline.next()?.count == 2)
    try await manager.set(Track(3, genre: "jazz"))
    #expect(try await offline.next()?.count == 3)
    await store.close()
  }

  @Test func `a server's error ends the iteration`() async throws {
    let store = try ModelStore.temporary(configuration: Following.configuration)
    let remote = FakeRemote()
    remote.answer.withLock { $0 = .failure(Offline(remoteFailureKind: .other)) }
    let manager = CoreManager<Track>(stores: [DiskStore(modelStore: store), remote])
    try await manager.set(Track(1, genre: "jazz"))
    for context in [ReadContext<Track>.remote(), .localThen(.remote()), .remoteOrLocal] {
      let values = manager.follow(jazz, in: context)
      await #expect(throws: Offline.self) { for try await _ in values {} }
    }
    // What is here is enough: the server is not asked.
    var local = manager.follow(jazz, in: .localOr(.remote()))
      .makeAsyncIterator()
    try await expectNext(&local, [Track(1, genre: "jazz")])
    await store.close()
  }

  @Test func `an answer that is not stored is shown as it is`() async throws {
    let store = try ModelStore.temporary(configuration: Following.configuration)
    let remote = FakeRemote()
    remote.answer.withLock { $0 = .success([Track(2, genre: "jazz")]) }
    let manager = CoreManager<Track>(stores: [DiskStore(modelStore: store), remote])
    let context = ReadContext<Track>.remote(persistenceStrategy: .doNotPersist)
    var values = manager.follow(jazz, in: context).makeAsyncIterator()
    try await expectNext(&values, [Track(2, genre: "jazz")])
    #expect(try await manager.all().isEmpty)
    await store.close()
  }

  @Test func `the natural order is the server's, also when it becomes another one`()
    async throws
  {
    let store = try ModelStore.temporary(configuration: Following.configuration)
    let remote = FakeRemote()
    let manager = CoreManager<Track>(stores: [DiskStore(modelStore: store), remote])
    try await manager.set([Track(1), Track(2), Track(3)])
    var values = manager.followAll().makeAsyncIterator()
    try await expectNext(&values, [Track(1), Track(2), Track(3)])
    for order in [[3, 1, 2], [2, 3, 1], [1, 2, 3]] {
      remote.answer.withLock { $0 = .success(order.map { Track($0) }) }
      _ = try await manager.all(in: .remote())
      try await expectNext(&values, order.map { Track($0) })
    }
    await store.close()
  }

  @Test func `containers over one store see each other's changes, and end what they follow`()
    async throws
  {
    let store = try ModelStore.temporary(configuration: Following.configuration)
    let first = try CoreManagerContainer(
      entities: Track.self, Place.self, diskStoreConfig: .store(store))
    let second = try CoreManagerContainer(entities: Track.self, diskStoreConfig: .store(store))
    var values = first[Track.self].followAll().makeAsyncIterator()
    var others = second[Track.self].followAll().makeAsyncIterator()
    try await expectNext(&values, [])
    try await expectNext(&others, [])
    try await second[Track.self].set(Track(1))
    try await expectNext(&values, [Track(1)])
    await first.close()
    #expect(try await values.next() == nil)
    try await expectNext(&others, [Track(1)])
    try await second[Track.self].remove(atID: .remote(1))
    try await expectNext(&others, [])
    await second.close()
    await store.close()
  }

  @Test func `following a local identifier continues under the identifier of the server`()
    async throws
  {
    let server = APIClientDouble()
    server.answer(.post, "/memos", with: Self.response(#"{"id": 7, "text": "Hello"}"#))
    let container = try CoreManagerContainer(
      entities: Memo.self, client: server, diskStoreConfig: .temporary())
    let memos = container[Memo.self]
    let memo = Memo(id: EntityIdentifier(), text: "Hello")
    let recorder = FollowedRecorder(memos.follow(byID: memo.id))
    try await recorder.element { $0 == nil }
    let written = try await memos.set(memo, in: .localAndRemote)
    #expect(written.state == .queued)
    try await written.confirmed()
    let named = try await recorder.element { $0?.id == .remote(7) }
    #expect(named == Memo(id: .remote(7), text: "Hello"))
    try await memos.set(Memo(id: .remote(7), text: "Again"))
    try await recorder.element { $0?.text == "Again" }
    recorder.cancel()
    await container.close()
  }

  private static func response(_ json: String) -> APIResponse {
    APIResponse(status: 200, body: Data(json.utf8))
  }

  @Test func `a type without a local store can't be followed`() async throws {
    let manager = CoreManager<Track>(stores: [FakeRemote()])
    var values = manager.followAll().makeAsyncIterator()
    let error = await #expect(throws: ManagerError.self) { _ = try await values.next() }
    #expect(error?.code == .noStore)
  }
}

/// An entity that a server names.
private struct Memo: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Memo>
  var text: String

  static var endpoint: APIPath { "/memos" }

  func withIdentifier(_ id: EntityIdentifier<Memo>) -> Memo { Memo(id: id, text: text) }
}

/// A server that answers every read alike.
private final class FakeRemote: Storing {
  let answer = Locked<Result<[Track], Offline>>(.success([]))

  var level: StoreLevel { .remote }

  func get(
    withQuery query: Query<Track>, in context: ReadContext<Track>
  ) async throws -> QueryResult<Track> { QueryResult(try answer.withLock { $0 }.get()) }

  func search(
    withQuery query: Query<Track>, in context: ReadContext<Track>
  ) async throws -> QueryResult<Track> { QueryResult(try answer.withLock { $0 }.get()) }

  func set(_ entities: [Track], in context: WriteContext<Track>) async throws -> [Track] {
    entities
  }

  func remove(
    _ identifiers: [EntityIdentifier<Track>], in context: WriteContext<Track>
  ) async throws {}

  func removeAll(
    withQuery query: Query<Track>, in context: WriteContext<Track>
  ) async throws -> [EntityIdentifier<Track>] { [] }
}

private struct Offline: RemoteFailure {
  let remoteFailureKind: RemoteFailureKind
}
