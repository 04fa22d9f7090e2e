import Foundation
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

@Suite struct CachePolicyTests {
  private typealias Context<E: Entity> = ReadContext<E>

  /// A library with a clock that a test sets.
  private static func with(
    onDisk: Bool = true, events: ManagerEventHandler? = nil,
    _ body: (GraphLibrary, Locked<Int64>) async throws -> Void
  ) async throws {
    try await GraphLibrary.with(onDisk: onDisk, events: events) { library in
      let time = Locked<Int64>(1_000_000_000_000)
      library.container.setClock { time.withLock { $0 } }
      try await body(library, time)
    }
  }

  private static func minute<E: Entity>(_ type: E.Type = E.self) -> ReadContext<E> {
    .staleWhileRevalidate(maxAge: .seconds(60))
  }

  @Test func `the names of policies say what they say elsewhere`() async throws {
    try await Self.with { library, _ in
      library.shelf.withLock { $0.bards = [Bard(1, "server")] }
      let id = EntityIdentifier<Bard>.remote(1)
      #expect(try await library.bards.get(byID: id, in: .cacheFirst)?.text == "server")
      try await library.bards.set(Bard(1, "here"))
      #expect(try await library.bards.get(byID: id, in: .cacheFirst)?.text == "here")
      #expect(library.requests.count == 1)
      #expect(try await library.bards.get(byID: id, in: .networkFirst)?.text == "server")
      library.client.isOffline = true
      try await library.bards.set(Bard(1, "here"))
      #expect(try await library.bards.get(byID: id, in: .networkFirst)?.text == "here")
    }
  }

  @Test func `a young answer is given, an older one is given and requested again`()
    async throws
  {
    for onDisk in [true, false] {
      try await Self.with(onDisk: onDisk) { library, time in
        let guilds = library.guilds
        library.shelf.withLock { $0.guilds = [Guild(1, "a")] }
        func expect(_ texts: [String], _ comment: Comment? = nil) async throws {
          let found = try await guilds.all(in: Self.minute()).entities.map(\.text)
          #expect(found == texts, comment)
        }
        try await expect(["a"], "nothing here: the server is waited for")
        library.shelf.withLock { $0.guilds = [Guild(1, "b")] }
        time.withLock { $0 += 60_000 }
        try await expect(["a"])
        await guilds.drain()
        try await expect(["a"])
        #expect(library.requests.count == 1)
        time.withLock { $0 += 1 }
        library.client.hold()
        try await expect(["a"], "nobody waits for the server")
        try await expect(["a"])
        await library.client.received(2)
        library.client.release()
        await guilds.drain()
        #expect(library.requests.count == 2, "of two at a time one asks")
        try await expect(["b"])
        await guilds.drain()
        #expect(library.requests.count == 2)
        // An answer from the future is none.
        time.withLock { $0 -= 60_000 }
        try await expect(["b"])
        await guilds.drain()
        #expect(library.requests.count == 3)
      }
    }
  }

  @Test func `each identifier has its time, also one that the server lacks`() async throws {
    for onDisk in [true, false] {
      try await Self.with(onDisk: onDisk) { library, time in
        let guilds = library.guilds
        library.shelf.withLock { $0.guilds = [Guild(1, "a"), Guild(2, "b")] }
        #expect(try await guilds.get(byID: .remote(1), in: Self.minute())?.text == "a")
        let ids: [EntityIdentifier<Guild>] = [.remote(1), .remote(2), .remote(3)]
        #expect(try await guilds.get(byIDs: ids, in: Self.minute()).count == 2)
        #expect(library.requests.count == 2)
        for id in ids { _ = try await guilds.get(byID: id, in: Self.minute()) }
        #expect(try await guilds.get(byIDs: ids, in: Self.minute()).count == 2)
        #expect(try await guilds.get(byID: .remote(4), in: Self.minute()) == nil)
        #expect(try await guilds.get(byID: .remote(4), in: Self.minute()) == nil)
        await guilds.drain()
        #expect(library.requests.count == 3)
        time.withLock { $0 += 60_001 }
        library.shelf.withLock { $0.guilds = [Guild(4, "d")] }
        #expect(try await guilds.get(byID: .remote(4), in: Self.minute())?.text == "d")
      }
    }
  }

  @Test func `an empty answer has an age too, and what went here since is asked for`() async throws
  {
    try await Self.with { library, _ in
      let bards = library.bards
      let all = Query<Bard>.all
      #expect(try await bards.search(withQuery: all, in: Self.minute()).isEmpty)
      #expect(try await bards.search(withQuery: all, in: Self.minute()).isEmpty)
      #expect(library.requests.count == 1)
      library.shelf.withLock { $0.bards = [Bard(1, "server")] }
      // Another question has another time.
      let first = Query<Bard>(limit: 1)
      #expect(try await bards.search(withQuery: first, in: Self.minute()).count == 1)
      #expect(try await bards.search(withQuery: first, in: Self.minute()).count == 1)
      #expect(library.requests.count == 2, "a part that was asked for is a whole answer")
      try await bards.remove(atID: .remote(1))
      #expect(try await bards.search(withQuery: first, in: Self.minute()).count == 1)
      #expect(library.requests.count == 3)
      for count in 4...5 {
        try await bards.remove(atID: .remote(1))
        #expect(try await bards.get(byID: .remote(1), in: Self.minute())?.text == "server")
        #expect(library.requests.count == count)
      }
    }
  }

  @Test func `each request and each query has a time of its own`() async throws {
    try await Self.with { library, _ in
      let tales = library.tales
      library.shelf.withLock { $0.tales = [Tale(1, "a"), Tale(2, "b")] }
      let queries: [Query<Tale>] = [
        .all, Query(filter: \Tale.text == "a"), Query(filter: \Tale.text != "a"),
        Query(filter: \Tale.text == "a" || \Tale.text == "b"), Query(order: [.ascending(\.text)]),
        Query(order: [.descending(\.text)]), Query(limit: 1), Query(offset: 1),
        Query(uniqueBy: [QueryField(\.text)]),
      ]
      for query in queries + queries {
        _ = try await tales.search(withQuery: query, in: Self.minute())
        await tales.drain()
      }
      #expect(library.requests.count == queries.count)
      let endpoint = RemoteEndpoint<Tale>.request(APIRequest(.get, "/tales/2"))
      let context = ReadContext.staleWhileRevalidate(maxAge: .seconds(60), endpoint: endpoint)
      for _ in 0..<2 { _ = try await tales.search(withQuery: .all, in: context) }
      await tales.drain()
      #expect(library.requests.count == queries.count + 1)
      // An answer that is stored nowhere has no age.
      let passing = ReadContext<Bard>.staleWhileRevalidate(
        maxAge: .seconds(60), persistenceStrategy: .doNotPersist)
      for _ in 0..<2 { _ = try await library.bards.search(withQuery: .all, in: passing) }
      #expect(library.requests.count == queries.count + 3)
    }
  }

  @Test func `of an answer that is not complete only what was found has an age`() async throws {
    try await Self.with { library, _ in
      let result = QueryResult([Bard(1)])
      func count(_ request: EntityRead<Bard>, isComplete: Bool) -> Int {
        let answer = RemoteAnswer(result: result, isComplete: isComplete)
        return library.bards.times(of: answer, to: request, in: .local).count
      }
      let all = EntityRead<Bard>(searching: .all)
      let two = EntityRead<Bard>(getting: [.remote(1), .remote(2)])
      #expect(count(all, isComplete: true) == 1 && count(all, isComplete: false) == 0)
      #expect(count(two, isComplete: true) == 2 && count(two, isComplete: false) == 1)
    }
  }

  @Test func `a young answer that breaks the contract is requested again`() async throws {
    try await Self.with { library, _ in
      library.shelf.withLock { $0.bards = [Bard(1, "a")] }
      let context = Self.minute(Bard.self)
      _ = try await library.bards.all(in: context)
      library.shelf.withLock { $0.bards = [Bard(1, "b")] }
      let good = context.with { bard, _ in bard.text == "b" }
      #expect(try await library.bards.all(in: good).count == 1)
      #expect(library.requests.count == 2)
    }
  }

  @Test func `a failed background request is reported, and leaves the answer old`() async throws {
    let told = Locked<[ManagerEvent.Kind]>([])
    try await Self.with(events: { event in told.withLock { $0.append(event.kind) } }) {
      library, time in
      library.shelf.withLock { $0.bards = [Bard(1, "a")] }
      _ = try await library.bards.all(in: Self.minute())
      time.withLock { $0 += 100_000 }
      library.shelf.withLock { $0.refused = ["/bards"] }
      for _ in 0..<2 {
        #expect(try await library.bards.all(in: Self.minute()).count == 1)
        await library.bards.drain()
      }
      #expect(told.withLock { $0 } == [.failedBackgroundRead, .failedBackgroundRead])
      library.shelf.withLock { $0.bards = [] }
      try await library.bards.remove(atID: .remote(1))
      await #expect(throws: APIError.self) { try await library.bards.all(in: Self.minute()) }
    }
  }

  @Test func `followers get the local result, then the server's answer`() async throws {
    try await Self.with { library, time in
      library.shelf.withLock { $0.bards = [Bard(1, "a")] }
      let waiting = FollowedRecorder(library.bards.followAll(in: Self.minute()))
      #expect(try await waiting.element { _ in true }.entities.map(\.text) == ["a"])
      waiting.cancel()
      library.shelf.withLock { $0.bards = [Bard(1, "b")] }
      let fresh = FollowedRecorder(library.bards.followAll(in: Self.minute()))
      #expect(try await fresh.element { _ in true }.entities.map(\.text) == ["a"])
      await library.bards.drain()
      #expect(library.requests.count == 1)
      fresh.cancel()
      time.withLock { $0 += 60_001 }
      library.client.hold()
      let stale = FollowedRecorder(library.bards.followAll(in: Self.minute()))
      #expect(try await stale.element { _ in true }.entities.map(\.text) == ["a"])
      library.client.release()
      try await stale.element { $0.entities.map(\.text) == ["b"] }
      #expect(library.requests.count == 2)
      stale.cancel()
    }
  }

  @Test func `a graph asks for what is too old, and for nothing else`() async throws {
    try await Self.with { library, time in
      try await library.tales.set(Tale(1, authors: [1, 2, 3]))
      library.shelf.withLock { shelf in
        shelf.tales = [Tale(1, authors: [1, 2, 3])]
        shelf.bards = [Bard(1, "a"), Bard(2, "a")]
      }
      let first = Query<Tale>(ids: [.remote(1)])
      let shape = GraphShape<Tale>.all.reading(in: Self.minute())
      let graph = try await library.tales.graph(of: first, shape: shape)
      #expect(graph.count == 3 && graph.missing == ["Bard:3"])
      #expect(library.requests == ["GET /bards?ids=1%2C2%2C3"])
      _ = try await library.tales.graph(of: first, shape: shape)
      await library.bards.drain()
      #expect(library.requests.count == 1)
      time.withLock { $0 += 50_000 }
      _ = try await library.bards.get(byID: .remote(2), in: .remote())
      time.withLock { $0 += 50_000 }
      library.shelf.withLock { $0.bards = [Bard(1, "b"), Bard(2, "b")] }
      let old = try await library.tales.graph(of: first, shape: shape)
      #expect(old.all(of: Bard.self).map(\.text) == ["a", "a"])
      await library.bards.drain()
      #expect(library.requests.dropFirst(2).ordered() == ["GET /bards/1", "GET /bards/3"])
      let new = try await library.tales.graph(of: first, shape: shape)
      #expect(new.all(of: Bard.self).map(\.text) == ["b", "a"])
    }
  }

  @Test func `the age of answers survives a restart`() async throws {
    try await withModelStore { store in
      let client = APIClientDouble()
      client.answer(.get, "/bards", with: APIResponse(status: 200, body: Data("[]".utf8)))
      for round in 0..<2 {
        let container = try CoreManagerContainer(
          entities: Bard.self, client: client, diskStoreConfig: .store(store))
        container.setClock { 1_000_000 + Int64(round) }
        _ = try await container[Bard.self].all(in: Self.minute())
        await container.close()
      }
      #expect(client.requests.count == 1)
    }
  }

  @Test func `answers removed as a whole have no age`() async throws {
    for onDisk in [true, false] {
      try await Self.with(onDisk: onDisk) { library, _ in
        _ = try await library.guilds.all(in: Self.minute())
        _ = try await library.bards.all(in: Self.minute())
        let known = library.requests.count
        try await library.container.removeAllLocalData()
        if let store = library.container.diskStoreConfig.modelStore {
          let rows = try await store.read { try Self.rows($0) }
          #expect(rows.isEmpty)
        }
        _ = try await library.guilds.all(in: Self.minute())
        _ = try await library.bards.all(in: Self.minute())
        #expect(library.requests.count == known + 2)
      }
    }
  }

  @Test func `an answer to what was asked before everything was removed has no age`() async throws {
    let time = AnswerTime(key: 7, time: 1, isEmpty: true)
    let memory = AnswerMemory()
    let count = memory.removalCount
    memory.forget()
    memory.note([time], since: count)
    #expect(memory[7] == nil)
    memory.note([time], since: memory.removalCount)
    #expect(memory[7] == time)
    try await Self.with { library, _ in
      let store = try #require(library.container.diskStoreConfig.modelStore)
      func note(_ place: UInt64) async throws -> AnswerTime? {
        try await store.write { try $0.note([time], of: "Bard", asOf: place) }
        return try await store.read { try $0.answerTime(7, of: "Bard") }
      }
      try await library.bards.set(Bard(1))
      let place = try await library.bards.stack.takeReadPlace()
      try await library.container.removeAllLocalData()
      #expect(try await note(place) == nil)
      let later = try await library.bards.stack.takeReadPlace()
      #expect(try await note(later) == time)
    }
  }

  private static func rows(_ snapshot: ModelSnapshot) throws -> [Int] {
    var rows: [Int] = []
    try snapshot.forEachProperty(withPrefix: "answered/") { _, bytes in
      rows.append(bytes.count)
      return true
    }
    return rows
  }

  @Test func `the times of a type are limited, and the newest stay`() async throws {
    try await Self.with { library, time in
      let store = try #require(library.container.diskStoreConfig.modelStore)
      for start in stride(from: 0, to: 3000, by: 500) {
        time.withLock { $0 += 1 }
        let ids = (start..<start + 500).map { EntityIdentifier<Bard>.remote($0) }
        _ = try await library.bards.get(byIDs: ids, in: Self.minute())
      }
      let rows = try await store.read { try Self.rows($0) }
      #expect(rows.count == 64 && rows.allSatisfy { $0 <= 16 * 17 })
      #expect(rows.reduce(0, +) / 17 > 900)
      let known = library.requests.count
      let newest = (2990..<3000).map { EntityIdentifier<Bard>.remote($0) }
      for id in newest { _ = try await library.bards.get(byID: id, in: Self.minute()) }
      #expect(library.requests.count == known)
    }
  }
}
