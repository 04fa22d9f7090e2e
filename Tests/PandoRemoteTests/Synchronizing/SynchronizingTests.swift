import Foundation
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// What a synchronization asks for, and what it makes of the answers.
@Suite struct SynchronizingTests {
  private static func body(
    _ items: [String] = [], deleted: String = "", cursor: String, more: Bool = false
  ) -> String {
    let items = items.map { item in
      let parts = item.split(separator: ":")
      return #"{"id":\#(parts[0]),"title":"\#(parts[1])"}"#
    }
    return #"{"items":[\#(items.joined(separator: ","))],"deleted":[\#(deleted)],"#
      + #""cursor":"\#(cursor)","more":\#(more)}"#
  }

  private static let first = ["": body(["1:A", "2:B"], cursor: "c1")]

  /// The same on disk, on disk behind a memory, and in memory.
  private func everywhere(
    _ test: (any SynchronizingTest) async throws -> Void
  ) async throws {
    for cacheLimit in [0, 8] {
      try await withModelStore { store in
        let server = APIClientDouble()
        let container = try CoreManagerContainer(
          entities: DiskItem.self, cacheLimit: cacheLimit, client: server,
          diskStoreConfig: .store(store))
        try await test(
          SynchronizingFixture(container[DiskItem.self], container, server, "\(cacheLimit)"))
        await container.close()
      }
    }
    let server = APIClientDouble()
    let container = try CoreManagerContainer(entities: MemoryItem.self, client: server)
    try await test(SynchronizingFixture(container[MemoryItem.self], container, server, "memory"))
    await container.close()
  }

  @Test func `if a page names an entity twice, the last one counts`() async throws {
    try await everywhere { test in
      test.server.pages(["": Self.body(["1:A", "2:B", "1:C"], cursor: "c1")])
      _ = try await test.synchronize()
      #expect(try await test.shown() == ["1:C", "2:B"], "\(test.name)")
    }
  }

  @Test func `a page of all without the list removes nothing`() async throws {
    try await everywhere { test in
      test.server.pages(Self.first)
      _ = try await test.synchronize()
      test.server.pages([
        "c1": #"{"expired":true,"cursor":""}"#, "": #"{"cursor":"c2","error":"maintenance"}"#,
      ])
      let error = await apiError { _ = try await test.synchronize() }
      #expect(error?.code == .malformedAnswer, "\(test.name)")
      #expect(error?.description.contains(#"there is no "items""#) == true)
      #expect(try await test.shown() == ["1:A", "2:B"], "\(test.name)")
    }
  }

  @Test(arguments: [404, 422])
  func `an undone entity can be removed by a full answer`(status: Int) async throws {
    let server = APIClientDouble()
    server.pages(Self.first)
    server.answer(.put, "/items/2", with: APIResponse(status: status))
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: DiskItem.self, client: server, diskStoreConfig: .store(store))
      let items = container[DiskItem.self]
      _ = try await items.synchronize()
      let written = try await items.updateIfPresent(byID: .remote(2), in: .localAndRemote) {
        $0.title = "X"
      }
      #expect(await apiError { try await written?.confirmed() }?.status == status)
      #expect(try await items.shown == ["1:A", "2:B"])
      server.pages(["c1": #"{"expired":true}"#, "": Self.body(["1:A"], cursor: "c2")])
      _ = try await items.synchronize()
      #expect(try await items.shown == ["1:A"])
      await container.close()
    }
  }

  @Test(arguments: [true, false], [true, false])
  func `an entity undone to an accepted write can be removed by a full answer`(
    isTold: Bool, isRemoval: Bool
  ) async throws {
    let server = APIClientDouble()
    server.pages(Self.first)
    server.answer(.delete, "/items/2", with: APIResponse(status: 422))
    server.answer(.put, "/items/2") { request in
      let body = request.body?.bytes ?? Data()
      if String(decoding: body, as: UTF8.self).contains("two") { return APIResponse(status: 422) }
      return isTold ? APIResponse(status: 200, body: body) : APIResponse(status: 204)
    }
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: DiskItem.self, client: server, diskStoreConfig: .store(store))
      let (items, id) = (container[DiskItem.self], EntityIdentifier<DiskItem>.remote(2))
      _ = try await items.synchronize()
      server.isOffline = true
      try await items.updateIfPresent(byID: id, in: .localAndRemote) { $0.title = "one" }
      if isRemoval {
        try await items.remove(atID: id, in: .localAndRemote)
      } else {
        try await items.updateIfPresent(byID: id, in: .localAndRemote) { $0.title = "two" }
      }
      server.isOffline = false
      let queue = try #require(container.clientQueue)
      while try queue.requests().contains(where: { $0.state != .failed }) {
        queue.flush()
        await Task.yield()
      }
      #expect(try await items.shown == ["1:A", "2:one"])
      server.pages(["c1": #"{"expired":true}"#, "": Self.body(["1:A"], cursor: "c2")])
      _ = try await items.synchronize()
      #expect(try await items.shown == ["1:A"])
      await container.close()
    }
  }

  @Test func `the first request is for all, later ones for changes`() async throws {
    try await everywhere { test in
      test.server.pages([
        "": Self.body(["1:A", "2:B"], cursor: "c1", more: true),
        "c1": Self.body(["3:C"], cursor: "c2"),
        "c2": Self.body(["3:D", "4:E"], deleted: #"1,{"id":9}"#, cursor: "c3"),
        "c3": Self.body(["2:F"], deleted: "2", cursor: "c4"),
      ])
      #expect(try await test.synchronize() == "full pages 2 stored 3 removed 0 cursor c2")
      #expect(try await test.shown() == ["1:A", "2:B", "3:C"], "\(test.name)")
      #expect(try await test.synchronize() == "incremental pages 1 stored 2 removed 1 cursor c3")
      #expect(try await test.shown() == ["2:B", "3:D", "4:E"], "\(test.name)")
      // What is named as changed is there, whatever was removed before.
      _ = try await test.synchronize()
      #expect(try await test.shown() == ["2:F", "3:D", "4:E"], "\(test.name)")
      #expect(
        test.server.requests.map(\.target) == [
          "/items/changes", "/items/changes?since=c1", "/items/changes?since=c2",
          "/items/changes?since=c3",
        ])
    }
  }

  @Test func `after a full answer, only earlier sent and now unnamed entities are removed`()
    async throws
  {
    try await everywhere { test in
      test.server.answer(
        .get, "/items", json: #"[{"id":1,"title":"A"},{"id":7,"title":"Old"},{"id":8,"title":"Z"}]"#
      )
      try await test.readAll()
      try await test.set("8", "changed here")
      try await test.set("local:x", "made here")
      test.server.pages(["": Self.body(["1:A"], cursor: "c1")])
      #expect(try await test.synchronize() == "full pages 1 stored 1 removed 1 cursor c1")
      #expect(
        try await test.shown() == ["1:A", "8:changed here", "local:x:made here"], "\(test.name)")
    }
  }

  @Test func `a cursor that has expired leads to all, once`() async throws {
    try await everywhere { test in
      test.server.pages(Self.first)
      _ = try await test.synchronize()
      test.server.pages(["": Self.body(["2:C"], cursor: "d1")])
      #expect(try await test.synchronize() == "expired pages 1 stored 1 removed 1 cursor d1")
      #expect(try await test.shown() == ["2:C"], "\(test.name)")
      // As the answer says it, and in the middle of all for the second time.
      test.server.pages([
        "d1": #"{"expired":true}"#, "": Self.body(["5:E"], cursor: "e1", more: true),
      ])
      let count = test.server.requests.count
      await #expect(throws: APIError.self) { try await test.synchronize() }
      #expect(
        test.server.requests.dropFirst(count).map(\.target) == [
          "/items/changes?since=d1", "/items/changes", "/items/changes?since=e1",
        ])
      #expect(try await test.shown() == ["2:C", "5:E"], "nothing goes before the end")
      test.server.pages([:])
      await #expect(throws: APIError.self) { try await test.synchronize() }
    }
  }

  @Test func `a local write after the request is newer, and is requested again`()
    async throws
  {
    try await everywhere { test in
      test.server.pages(Self.first)
      _ = try await test.synchronize()
      test.server.pages([
        "c1": Self.body(["1:theirs"], deleted: "2", cursor: "c2"), "c2": Self.body(cursor: "c3"),
      ])
      test.server.answer(.get, "/items/1", json: #"{"id":1,"title":"theirs"}"#)
      test.server.hold()
      async let done = test.synchronize()
      await test.server.received(2)
      try await test.set("1", "mine")
      try await test.set("2", "mine")
      test.server.release()
      let outcome = try await done
      #expect(outcome == "incremental pages 1 stored 0 removed 0 cursor c2")
      #expect(try await test.shown() == ["1:mine", "2:mine"], "\(test.name)")
      // The server will not tell it a second time by itself.
      #expect(try await test.synchronize() == "incremental pages 1 stored 1 removed 1 cursor c3")
      #expect(try await test.shown() == ["1:theirs"], "\(test.name)")
      _ = try? await test.synchronize()
      #expect(
        test.server.targets.filter { $0.hasPrefix("GET /items/") && !$0.contains("changes") }.count
          == 2, "and is not asked for it again and again")
    }
  }

  @Test func `an interrupted synchronization continues after the last stored page`() async throws {
    try await everywhere { test in
      test.server.answer(.get, "/items", json: #"[{"id":7,"title":"Old"}]"#)
      try await test.readAll()
      test.server.answer(.get, "/items/changes") { request in
        guard request.query.isEmpty else { throw APIError(.connectionLost, request, "lost") }
        return APIResponse(
          status: 200, body: Data(Self.body(["1:A"], cursor: "p2", more: true).utf8))
      }
      await #expect(throws: APIError.self) { try await test.synchronize() }
      #expect(try await test.shown() == ["1:A", "7:Old"], "\(test.name)")
      test.server.pages(["p2": Self.body(["2:B"], cursor: "c1")])
      #expect(try await test.synchronize() == "full pages 1 stored 1 removed 1 cursor c1")
      #expect(try await test.shown() == ["1:A", "2:B"], "\(test.name)")
    }
  }

  @Test func `calls at the same time share one run`() async throws {
    try await everywhere { test in
      test.server.pages(Self.first)
      test.server.hold()
      async let one = test.synchronize()
      await test.server.received(1)
      async let two = test.synchronize()
      async let three = test.synchronize()
      for _ in 0..<100 { await Task.yield() }
      test.server.release()
      let outcomes = try await [one, two, three]
      #expect(outcomes.allSatisfy { $0.hasPrefix("full") })
      #expect(test.server.requests.count == 1, "\(test.name)")
    }
  }

  @Test func `removing all local data removes the cursor, and ends running synchronizations`()
    async throws
  {
    try await everywhere { test in
      test.server.pages(Self.first)
      _ = try await test.synchronize()
      try await test.container.removeAllLocalData()
      #expect(try await test.synchronize() == "full pages 1 stored 2 removed 0 cursor c1")
      test.server.pages(["c1": Self.body(["3:C"], cursor: "c2")])
      test.server.hold()
      let done = Task { try await test.synchronize() }
      await test.server.received(3)
      try await test.container.removeAllLocalData()
      test.server.release()
      let error = await #expect(throws: ManagerError.self) { try await done.value }
      #expect(error?.code == .aborted, "\(test.name)")
      #expect(try await test.shown().isEmpty, "\(test.name)")
      #expect(test.server.requests.count == 3)
    }
  }

  @Test func `closing ends running synchronizations, and a cancelled call does not wait`()
    async throws
  {
    try await everywhere { test in
      test.server.pages(Self.first)
      test.server.hold()
      let (one, two) = (
        Task { try await test.synchronize() }, Task { try await test.synchronize() }
      )
      await test.server.received(1)
      two.cancel()
      await #expect(throws: CancellationError.self) { try await two.value }
      async let closed: Void = test.container.close()
      let error = await #expect(throws: ManagerError.self) { try await one.value }
      #expect(error?.code == .closed, "\(test.name)")
      test.server.release()
      await closed
    }
  }

  @Test func `pages that lead back to one before are no circle`() async throws {
    try await everywhere { test in
      test.server.pages([
        "": Self.body(["1:A"], cursor: "c1", more: true),
        "c1": Self.body(["2:B"], cursor: "c2", more: true),
        "c2": Self.body(["3:C"], cursor: "c1", more: true),
      ])
      let error = await apiError { try await test.synchronize() }
      #expect(error?.code == .malformedAnswer)
      let shown = try await test.shown()
      #expect(shown == ["1:A", "2:B"], "\(test.name)")
      #expect(test.server.requests.count == 3)
    }
  }

  @Test func `an empty cursor is none`() async throws {
    try await everywhere { test in
      test.server.pages(["": #"{"items":[{"id":1,"title":"A"}],"cursor":""}"#])
      let error = await apiError { try await test.synchronize() }
      #expect(error?.code == .malformedAnswer)
      test.server.pages(["": Self.body(["1:A"], cursor: "c1")])
      let done = try await test.synchronize()
      #expect(done == "full pages 1 stored 1 removed 0 cursor c1")
    }
  }

  @Test func `an unreadable element is reported, and nothing is removed`() async throws {
    try await everywhere { test in
      test.server.answer(.get, "/items", json: #"[{"id":7,"title":"Old"}]"#)
      try await test.readAll()
      test.server.pages(["": #"{"items":[{"id":1,"title":"A"},{"id":2}],"cursor":4}"#])
      #expect(try await test.synchronize() == "full pages 1 stored 1 removed 0 cursor 4")
      #expect(try await test.shown() == ["1:A", "7:Old"], "\(test.name)")
    }
  }

  @Test func `an answer without a cursor, and a page that leads to itself, are errors`()
    async throws
  {
    try await everywhere { test in
      test.server.pages(["": #"{"items":[]}"#])
      let none = await apiError { try await test.synchronize() }
      #expect(none?.code == .malformedAnswer)
      test.server.pages([
        "": Self.body(["1:A"], cursor: "c1", more: true),
        "c1": Self.body(["2:B"], cursor: "c1", more: true),
      ])
      let same = await apiError { try await test.synchronize() }
      #expect(
        same?.description
          == "GET /items/changes?since=c1: the next page is this one, or one before it")
    }
  }
}

/// A manager of items wherever they are.
protocol SynchronizingTest: Sendable {
  var server: APIClientDouble { get }
  var container: CoreManagerContainer { get }
  var name: String { get }
  func synchronize() async throws -> String
  func shown() async throws -> [String]
  func readAll() async throws
  func set(_ id: String, _ title: String) async throws
}

private struct SynchronizingFixture<E: FeedItem>: SynchronizingTest {
  let items: CoreManager<E>
  let container: CoreManagerContainer
  let server: APIClientDouble
  let name: String

  init(
    _ items: CoreManager<E>, _ container: CoreManagerContainer, _ server: APIClientDouble,
    _ name: String
  ) {
    (self.items, self.container, self.server, self.name) = (items, container, server, name)
  }

  func synchronize() async throws -> String {
    let done = try await items.synchronize()
    return "\(done.kind) pages \(done.pageCount) stored \(done.storedCount) "
      + "removed \(done.removedCount) cursor \(done.cursor ?? "none")"
  }

  func shown() async throws -> [String] { try await items.shown }

  func readAll() async throws { _ = try await items.all(in: .remote()) }

  func set(_ id: String, _ title: String) async throws {
    guard let id = EntityIdentifier<E>(text: id) else { return }
    try await items.set(E(id, title))
  }
}
