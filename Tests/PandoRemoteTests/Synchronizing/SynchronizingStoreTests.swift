import Foundation
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// What a synchronization keeps in a store, and what else an answer can say.
@Suite struct SynchronizingStoreTests {
  @Test func `a page and its cursor are one commit, and outlive the process`() async throws {
    let server = APIClientDouble()
    server.pages([
      "": #"{"items":[{"id":1,"title":"A"}],"cursor":"p2","more":true}"#,
      "p2": #"{"items":[{"id":2,"title":"B"}],"cursor":"c1"}"#,
      "c1": #"{"items":[{"id":3,"title":"C"}],"deleted":[1],"cursor":"c2"}"#,
    ])
    try await withModelStore { store in
      func container() throws -> CoreManagerContainer {
        try CoreManagerContainer(
          entities: DiskItem.self, client: server, diskStoreConfig: .store(store))
      }
      let before = try container()
      _ = try await before[DiskItem.self].all()
      let items = before[DiskItem.self]
      var seen: [UInt64: [String]] = [:]
      let place = try await store.read { try $0.commitNumber.value }
      _ = try await items.synchronize()
      let full = try await store.read { try $0.commitNumber.value }
      // One for the place at which it began, and one for each page.
      #expect(full == place + 3)
      await before.close()
      let after = try container()
      #expect(try await after[DiskItem.self].synchronize().kind == .incremental)
      #expect(try await store.read { try $0.commitNumber.value } == full + 1)
      seen[full] = try await after[DiskItem.self].shown
      #expect(seen[full] == ["2:B", "3:C"])
      let state = try await store.read { try $0.property("sync/default/DiskItem") }
      #expect(
        state.map { String(decoding: $0, as: UTF8.self) }
          == #"{"cursor":"c2","link":false,"pending":[]}"#)
      await after.close()
    }
  }

  @Test func `two containers over a store bring each other further`() async throws {
    let server = APIClientDouble()
    server.pages([
      "": #"{"items":[{"id":1,"title":"A"}],"cursor":"c1"}"#,
      "c1": #"{"items":[{"id":2,"title":"B"}],"cursor":"c2"}"#,
      "c2": #"{"items":[],"cursor":"c2"}"#,
    ])
    try await withModelStore { store in
      let containers = try (0..<2).map { _ in
        try CoreManagerContainer(
          entities: DiskItem.self, client: server, diskStoreConfig: .store(store))
      }
      server.hold()
      async let one = containers[0][DiskItem.self].synchronize()
      async let two = containers[1][DiskItem.self].synchronize()
      await server.received(2)
      server.release()
      let cursors = try await [one.cursor, two.cursor]
      #expect(cursors.contains("c2"), "who comes second goes on where the first one was")
      #expect(try await containers[0][DiskItem.self].shown == ["1:A", "2:B"])
      for container in containers { await container.close() }
    }
  }

  @Test func `a removal that the store refuses is reported, and repeated`() async throws {
    let server = APIClientDouble()
    let events = Locked<[ManagerEvent.Kind]>([])
    server.pages([
      "": #"{"items":[{"id":"b","title":"B"}],"cursor":"c1"}"#,
      "c1": #"{"items":[],"deleted":["b"],"cursor":"c2"}"#,
      "c2": #"{"items":[],"cursor":"c3"}"#, "c3": #"{"items":[],"cursor":"c4"}"#,
    ])
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: FeedBox.self, FeedRack.self, client: server, diskStoreConfig: .store(store),
        events: { event in events.withLock { $0.append(event.kind) } })
      let boxes = container[FeedBox.self]
      _ = try await boxes.synchronize()
      try await container[FeedRack.self].set(
        FeedRack(id: .remote("r"), box: FeedBox(id: .remote("b"), title: "B")))
      let refused = try await boxes.synchronize()
      #expect(refused.restricted == [.remote("b")])
      #expect(refused.removedCount == 0)
      #expect(refused.cursor == "c2", "the rest is not kept up by it")
      #expect(events.withLock { $0 } == [.restrictedRemoval])
      #expect(try await boxes.synchronize().restricted == [.remote("b")])
      try await container[FeedRack.self].remove(atID: .remote("r"))
      let done = try await boxes.synchronize()
      #expect(done.restricted.isEmpty)
      #expect(done.removedCount == 1)
      #expect(try await boxes.all().isEmpty)
      await container.close()
    }
  }

  @Test func `pages are found by links, and hold what is included and is called otherwise`()
    async throws
  {
    let server = APIClientDouble()
    server.answer(.get, "/feed") { request in
      switch request.target {
      case "/feed":
        return APIResponse(
          status: 200, headers: ["Link": "<https://x.org/v1/feed?page=2&q=a%20b>; rel=\"next\""],
          body: Data(
            #"{"songs":[{"_id":1,"title":"T","lines":[]}],"more":[{"id":"c","full_name":"Cy"}]}"#
              .utf8))
      case "/feed?page=2&q=a%20b":
        return APIResponse(
          status: 200,
          body: Data(#"{"songs":[{"_id":2,"title":"U","lines":[]}],"token":"t1"}"#.utf8))
      case "/feed?since=t1":
        return APIResponse(status: 200, body: Data(#"{"gone":[1],"token":"t2"}"#.utf8))
      default: return APIResponse(status: 400)
      }
    }
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: FeedSong.self, Courier.self, client: server, diskStoreConfig: .store(store))
      let songs = container[FeedSong.self]
      let full = try await songs.synchronize()
      #expect(full.pageCount == 2)
      #expect(full.cursor == "t1")
      #expect(try await songs.all().entities.map(\.title) == ["T", "U"])
      #expect(try await container[Courier.self].get(byID: .remote("c"))?.fullName == "Cy")
      try await songs.updateIfPresent(byID: .remote(2)) { $0.isFavorite = true }
      _ = try await songs.synchronize()
      #expect(try await songs.all().entities.map(\.title) == ["U"])
      await container.close()
    }
  }

  @Test func `an entity made meanwhile is requested by its new name, after any wait`()
    async throws
  {
    let server = APIClientDouble()
    let (page, answer) = (Signal(), Signal())
    server.answer(.get, "/items/changes") { request in
      if request.query.isEmpty { await page.received() }
      return APIResponse(status: 200, body: Data(#"{"items":[],"cursor":"c1"}"#.utf8))
    }
    server.answer(.post, "/items") { _ in
      await answer.received()
      return APIResponse(status: 200, body: Data(#"{"id":9,"title":"X"}"#.utf8))
    }
    server.answer(.get, "/items/8", json: #"{"id":8,"title":"theirs"}"#)
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: DiskItem.self, client: server, diskStoreConfig: .store(store))
      let items = container[DiskItem.self]
      let all = Task { try await items.synchronize() }
      await server.received(1)
      // The server has made it and removed it again before it says so; no page names it.
      let made = try await items.set(DiskItem(.local("x"), "X"), in: .localAndRemote)
      try await items.set(DiskItem(.remote(8), "mine"))
      await server.received(2)
      page.send()
      _ = try await all.value
      #expect(try await items.shown == ["8:mine", "local:x:X"])
      // It waits behind the request that makes one.
      let next = Task { try await items.synchronize() }
      for _ in 0..<100 { await Task.yield() }
      answer.send()
      try await made.confirmed()
      _ = try await next.value
      _ = try await items.synchronize()
      #expect(try await items.shown == ["8:theirs"])
      #expect(server.targets.contains("GET /items/9"))
      await container.close()
    }
  }

  @Test func `a type without such an API, without a server and without a store says so`()
    async throws
  {
    let server = APIClientDouble()
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Volume.self, FeedMute.self, client: server,
        diskStoreConfig: .store(store))
      let error = await apiError { try await container[Volume.self].synchronize() }
      #expect(error?.code == .noRequest)
      #expect(error?.description == "Volume: request(for:) has no request for what has changed")
      let mute = await apiError { try await container[FeedMute.self].synchronize() }
      #expect(mute?.code == .noRequest)
      await container.close()
    }
    let alone = CoreManager<DiskItem>(stores: [StoreDouble(.memory)])
    await #expect(throws: ManagerError.self) { try await alone.synchronize() }
    let queue = APIClientQueue(client: server)
    let foreign = CoreManager<DiskItem>(stores: [
      StoreDouble(.memory), RemoteStore<DiskItem>(clientQueue: queue),
    ])
    await #expect(throws: ManagerError.self) { try await foreign.synchronize() }
    #expect(server.requests.isEmpty)
    await queue.close()
  }
}

private protocol FeedRead: RemoteEntity {
  static func payloadOfChanges() -> RemotePayload<Self>
}

extension FeedRead {
  static func request(for path: RemotePath<Self>) throws -> APIRequest? {
    switch path {
    case .changes(let cursor):
      APIRequest(.get, endpoint, query: cursor.map { [.init("since", $0)] } ?? [])
    case .get(let id): APIRequest(.get, "/feed/\(id)")
    default: nil
    }
  }

  static func payload(for path: RemotePath<Self>) -> RemotePayload<Self> {
    if case .changes = path { return payloadOfChanges() }
    return .content
  }
}

private struct FeedBox: PersistentEntity, FeedRead {
  var id: EntityIdentifier<FeedBox>
  var title: String
  static let endpoint: APIPath = "/items/changes"

  static func payloadOfChanges() -> RemotePayload<FeedBox> {
    .under("items").changes(removed: ["deleted"], cursor: ["cursor"])
  }
}

private struct FeedRack: PersistentEntity, DeletionRuled {
  static let deletionRules: [DeletionRule] = [.restrict("box")]
  var id: EntityIdentifier<FeedRack>
  var box: FeedBox
}

private struct FeedMute: PersistentEntity, FeedRead {
  var id: EntityIdentifier<FeedMute>
  static func payloadOfChanges() -> RemotePayload<FeedMute> { .content }
}

private struct FeedSong: PersistentEntity, FeedRead {
  typealias RemoteID = Int
  var id: EntityIdentifier<FeedSong>
  var title: String
  var isFavorite: Bool
  static let endpoint: APIPath = "/feed"
  static let wireFields: [WireField<FeedSong>] = [
    .named(\.id, "_id"), .localOnly(\.isFavorite, default: false),
  ]

  static func payloadOfChanges() -> RemotePayload<FeedSong> {
    .under("songs").including(Courier.self, under: "more").paged(next: ["none"])
      .changes(removed: ["gone"], cursor: ["token"])
  }
}
