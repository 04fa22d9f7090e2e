import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// Writes that wait for a server, beside what else comes from it and goes to it.
@Suite struct WaitingWritesTests {
  private struct Label: PersistentEntity, MutableEntity, Equatable {
    static let modelTypeName = "WaitingLabel"
    static let endpoint: APIPath = "/labels"
    var id: EntityIdentifier<Label>
    var name: String
    func withIdentifier(_ id: EntityIdentifier<Label>) -> Label { Label(id: id, name: name) }
  }

  private struct Note: PersistentEntity, RemoteEntity, Equatable {
    static let modelTypeName = "WaitingNote"
    static let endpoint: APIPath = "/notes"
    var id: EntityIdentifier<Note>
    var label: Label?
    static func payload(for path: RemotePath<Note>) -> RemotePayload<Note> {
      .under("notes").including(Label.self, under: "labels")
    }
  }

  private struct Counter: LocalEntity, RemoteEntity, Equatable {
    static let modelTypeName = "WaitingCounter"
    static let endpoint: APIPath = "/counters"
    var id: EntityIdentifier<Counter>
    var count = 0
  }

  private let server = APIClientDouble()

  private func withContainer(_ body: (CoreManagerContainer) async throws -> Void) async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Label.self, Note.self, Counter.self, client: server,
        diskStoreConfig: .store(store))
      try await body(container)
      await container.close()
    }
  }

  @Test(arguments: [
    #"{"notes":[],"labels":[{"id":"1","name":"old"}]}"#,
    #"{"notes":[{"id":"n","label":{"id":"1","name":"old"}}]}"#,
  ])
  func `an answer about other entities does not undo a write in flight`(answer: String) async throws
  {
    server.answer(
      .get, "/notes", with: APIResponse(status: 200, body: Data(answer.utf8)))
    let (isThere, isRead) = (Gate(), Gate())
    server.answer(.put, "/labels/1") { _ in
      isThere.open()
      await isRead.wait()
      return APIResponse(status: 204)
    }
    try await withContainer { container in
      let labels = container[Label.self]
      try await labels.set(Label(id: .remote("1"), name: "old"))
      let new = Label(id: .remote("1"), name: "new")
      let written = try await labels.set(new, in: .localAndRemote)
      await isThere.wait()
      _ = try await container[Note.self].all(in: .remote())
      #expect(try await labels.get(byID: new.id) == new)
      isRead.open()
      try await written.confirmed()
      #expect(try await labels.get(byID: new.id) == new)
    }
  }

  @Test func `a waiting write is found in an order that a server has named`() async throws {
    server.answer(
      .get, "/labels",
      with: APIResponse(
        status: 200, body: Data(#"[{"id":"2","name":"b"},{"id":"1","name":"a"}]"#.utf8)))
    try await withContainer { container in
      let labels = container[Label.self]
      let (a, b) = (Label(id: .remote("1"), name: "a"), Label(id: .remote("2"), name: "b"))
      try await labels.set([a, b])
      let all = try await labels.all(in: .remote()).entities
      #expect(all == [b, a])
      #expect(try await labels.all().entities == all)
      server.isOffline = true
      try await labels.set(a, in: .localAndRemote)
      try await container[Note.self].set(Note(id: .remote("n"), label: b))
      let waiting = Query<Label>(filter: .synchronizationState(.pending))
      #expect(try await labels.search(withQuery: waiting).entities == [a])
      var followed = labels.follow(waiting).makeAsyncIterator()
      #expect(try await followed.next()?.entities == [a])
      let held = Query<Label>(filter: .held(by: "WaitingNote:n"))
      #expect(try await labels.search(withQuery: held).entities == [b])
    }
  }

  @Test func `an entity in memory is removed when the server has removed it`() async throws {
    server.answer(.delete, "/counters/1", with: APIResponse(status: 204))
    try await withContainer { container in
      let counters = container[Counter.self]
      try await counters.set(Counter(id: .remote("1")))
      try await counters.remove(atID: .remote("1"), in: .remote())
      #expect(try await counters.all().entities.isEmpty)
    }
  }

  @Test func `an answer without content confirms an entity in memory`() async throws {
    server.answer(.put, "/counters/1", with: APIResponse(status: 204))
    try await withContainer { container in
      let counters = container[Counter.self]
      let counter = Counter(id: .remote("1"), count: 3)
      for context: WriteContext<Counter> in [.localAndRemote, .remote()] {
        let written = try await counters.set(counter, in: context)
        #expect(try await written.confirmed() == counter)
      }
    }
  }

  @Test func `writes in memory are sent in their order`() async throws {
    let sent = Locked<[Int]>([])
    server.answer(.put, "/counters/1") { request in
      let counter = try JSONDecoder().decode(Counter.self, from: request.body?.bytes ?? Data())
      sent.withLock { $0.append(counter.count) }
      return APIResponse(status: 204)
    }
    try await withContainer { container in
      let counters = container[Counter.self]
      try await counters.set(Counter(id: .remote("1")))
      @Sendable func count() async throws -> Written<Counter>? {
        try await counters.updateIfPresent(byID: .remote("1"), in: .localAndRemote) {
          $0.count += 1
        }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask {
            for _ in 0..<20 { _ = try await count() }
          }
        }
        try await group.waitForAll()
      }
      let last = try await count()
      #expect(try await last?.confirmed().count == 161)
      #expect(sent.withLock { $0 } == Array(1...161))
    }
  }

  @Test func `a read of data in memory is not older than a concurrent write`() async throws {
    let stored = Locked(Counter(id: .remote("1")))
    server.answer(.put, "/counters/1") { request in
      let counter = try JSONDecoder().decode(Counter.self, from: request.body?.bytes ?? Data())
      stored.withLock { $0 = counter }
      return APIResponse(status: 204)
    }
    server.answer(.get, "/counters/1") { _ in
      APIResponse(status: 200, body: try JSONEncoder().encode(stored.withLock { $0 }))
    }
    try await withContainer { container in
      let counters = container[Counter.self]
      for number in 1...200 {
        async let read = counters.get(byID: .remote("1"), in: .remote())
        let written = try await counters.set(
          Counter(id: .remote("1"), count: number), in: .localAndRemote)
        try await written.confirmed()
        _ = try await read
        #expect(try await counters.get(byID: .remote("1"))?.count == number)
      }
    }
  }

  @Test func `a page that names a new entity does not undo waiting changes`() async throws {
    let (isAsked, isPosted, isRead) = (Gate(), Gate(), Gate())
    server.answer(.get, "/items/changes") { _ in
      isAsked.open()
      await isPosted.wait()
      let page = #"{"items":[{"id":7,"title":"made"}],"deleted":[],"cursor":"c1","more":false}"#
      return APIResponse(status: 200, body: Data(page.utf8))
    }
    server.answer(.post, "/items") { _ in
      isPosted.open()
      await isRead.wait()
      return APIResponse(status: 201, body: Data(#"{"id":7,"title":"made"}"#.utf8))
    }
    server.answer(.put, "/items/7", with: APIResponse(status: 204))
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: DiskItem.self, client: server, diskStoreConfig: .store(store))
      let items = container[DiskItem.self]
      async let synchronized = items.synchronize()
      await isAsked.wait()
      try await items.set(DiskItem(.local("a"), "made"), in: .localAndRemote)
      let edit = try await items.updateIfPresent(byID: .local("a"), in: .localAndRemote) {
        $0.title = "changed"
      }
      _ = try await synchronized
      isRead.open()
      try await edit?.confirmed()
      #expect(try await items.all().entities == [DiskItem(.remote(7), "changed")])
      await container.close()
    }
  }

  /// Lets through once it is open.
  private final class Gate: Sendable {
    private let stream = AsyncStream<Void>.makeStream()

    func open() { stream.continuation.finish() }
    func wait() async { for await _ in stream.stream {} }
  }
}
