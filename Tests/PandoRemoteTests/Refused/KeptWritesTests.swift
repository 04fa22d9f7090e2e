import Foundation
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// What becomes of writes that a server has refused and that stay here.
@Suite struct KeptWritesTests {
  /// An entity that keeps what a server refuses, with a node and a job inside.
  private struct Sketch: PersistentEntity, MutableEntity, Equatable {
    static let modelTypeName = "KeptSketch"
    static let endpoint: APIPath = "/sketches"
    static var refusalPolicy: RefusalPolicy { .keep }
    var id: EntityIdentifier<Sketch>
    var title = ""
    var part: RefusedPart?
    var job: RefusedJob?

    func withIdentifier(_ id: EntityIdentifier<Sketch>) -> Sketch {
      Sketch(id: id, title: title, part: part, job: job)
    }

    static func request(for path: RemotePath<Sketch>) throws -> APIRequest? {
      switch path {
      case .get(let id): APIRequest(.get, endpoint.appending(id))
      case .search: APIRequest(.get, endpoint)
      case .update(let sketch):
        APIRequest(.put, endpoint.appending(sketch.id), body: try APIBody(entity: sketch))
      case .remove(let id): APIRequest(.delete, endpoint.appending(id))
      case .changes(let cursor):
        APIRequest(
          .get, "/sketches/changes", query: cursor.map { [.init("since", $0)] } ?? [])
      default: nil
      }
    }

    static func payload(for path: RemotePath<Sketch>) -> RemotePayload<Sketch> {
      guard case .changes = path else {
        var payload = RemotePayload<Sketch>.content
        payload.isFilteredHere = true
        return payload
      }
      return .under("items").changes(removed: ["gone"], cursor: ["cursor"], more: ["more"])
    }
  }

  private let server = APIClientDouble()
  private let id = EntityIdentifier<Sketch>.remote("1")
  private let old = Sketch(
    id: .remote("1"), title: "old", part: RefusedPart(id: "p", text: "old"),
    job: .numbered("2", "old"))

  private func with(
    _ body: (CoreManagerContainer, ModelStore, APIClientQueue) async throws -> Void
  ) async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Sketch.self, RefusedJob.self, client: server, diskStoreConfig: .store(store))
      try await container[Sketch.self].set(old)
      try await body(container, store, try #require(container.clientQueue))
      await container.close()
    }
  }

  private func answer(_ method: HTTPMethod, _ path: String, _ content: some Encodable) throws {
    server.answer(
      method, path, with: APIResponse(status: 200, body: try JSONEncoder().encode(content)))
  }

  /// Lets the server take what it is sent.
  private func accept(_ path: String) {
    server.answer(.put, path) { APIResponse(status: 200, body: $0.body?.bytes ?? Data()) }
  }

  /// Changes the sketch, which the server refuses.
  private func refuseChange(_ sketches: CoreManager<Sketch>) async throws {
    server.answer(.put, "/sketches/1", with: APIResponse(status: 422))
    let written = try await sketches.updateIfPresent(byID: id, in: .localAndRemote) { sketch in
      sketch.title = "kept"
      sketch.part?.text = "kept"
    }
    #expect(await apiError { try await written?.confirmed() }?.status == 422)
  }

  @Test func `no answer takes a kept write away, until it is sent again or dropped`() async throws {
    for isDropped in [false, true] {
      try await with { container, store, queue in
        let sketches = container[Sketch.self]
        try await refuseChange(sketches)
        var kept = old
        kept.title = "kept"
        kept.part?.text = "kept"
        try answer(.get, "/sketches/1", old)
        try answer(.get, "/sketches", [old])
        let page = try JSONEncoder().encode(old)
        let text = String(decoding: page, as: UTF8.self)
        server.answer(.get, "/sketches/changes", json: #"{"items":[\#(text)],"cursor":"c"}"#)
        #expect(
          try await sketches.get(byID: id, in: .remote()) == old, "the caller sees the answer")
        _ = try await sketches.all(in: .remote(persistenceStrategy: .discardExtraLocalData))
        _ = try await sketches.all(in: .staleWhileRevalidate(maxAge: .zero))
        await sketches.drain()
        try await sketches.synchronize()
        #expect(try await sketches.get(byID: id) == kept)
        server.answer(.get, "/sketches", json: "[]")
        server.answer(.get, "/sketches/1", with: APIResponse(status: 404))
        server.answer(.get, "/sketches/changes", json: #"{"items":[],"gone":["1"],"cursor":"d"}"#)
        _ = try await sketches.get(byID: id, in: .remote())
        _ = try await sketches.all(in: .remote(persistenceStrategy: .discardExtraLocalData))
        try await sketches.synchronize()
        #expect(try await sketches.get(byID: id) == kept)
        #expect(try await store.read { try $0.synchronizationState(of: id) } == .refused)
        let number = try #require(try queue.requests().first?.id)
        if isDropped {
          #expect(try await queue.drop(number))
          try answer(.get, "/sketches/1", old)
          _ = try await sketches.get(byID: id, in: .remote())
          #expect(try await sketches.get(byID: id) == old)
        } else {
          accept("/sketches/1")
          #expect(try await queue.retry(number))
          try await settle(queue)
          let sent = try #require(server.requests.last?.body?.bytes)
          #expect(try JSONDecoder().decode(Sketch.self, from: sent) == kept)
          #expect(try await sketches.get(byID: id) == kept)
        }
        #expect(try await store.read { try $0.synchronizationState(of: id) } == .synced)
      }
    }
  }

  @Test func `an answer to another type leaves a kept node alone`() async throws {
    try await with { container, _, _ in
      let (sketches, jobs) = (container[Sketch.self], container[RefusedJob.self])
      try await refuseChange(sketches)
      var job = RefusedJob.numbered("3", "new")
      job.part = RefusedPart(id: "p", text: "old")
      try answer(.get, "/jobs/3", job)
      _ = try await jobs.get(byID: job.id, in: .remote())
      #expect(try await jobs.get(byID: job.id)?.title == "new")
      #expect(try await jobs.get(byID: job.id)?.part?.text == "kept")
      #expect(try await sketches.get(byID: id)?.part?.text == "kept")
    }
  }

  @Test(arguments: [true, false])
  func `a change and a removal that are sent again leave nothing here`(isAtOnce: Bool) async throws
  {
    try await with { container, store, queue in
      let sketches = container[Sketch.self]
      try await refuseChange(sketches)
      server.answer(.delete, "/sketches/1", with: APIResponse(status: 403))
      let removed = try await sketches.remove(atID: id, in: .localAndRemote)
      #expect(await apiError { try await removed.confirmed() }?.status == 403)
      #expect(try await sketches.get(byID: id) == nil)
      accept("/sketches/1")
      server.answer(.delete, "/sketches/1", with: APIResponse(status: 204))
      for number in try queue.requests().map(\.id) {
        #expect(try await queue.retry(number))
        if !isAtOnce { try await settle(queue) }
      }
      try await settle(queue)
      #expect(try await sketches.get(byID: id) == nil)
      #expect(try await !store.read { try $0.hasQueuedRequests(for: id.modelIdentifier) })
      #expect(server.requests.last?.method == .delete)
    }
  }

  @Test func `a request behind an undone write does not send that write`() async throws {
    try await with { container, _, queue in
      let (sketches, jobs) = (container[Sketch.self], container[RefusedJob.self])
      accept("/sketches/1")
      server.answer(.put, "/jobs/2", with: APIResponse(status: 422))
      server.isOffline = true
      try await jobs.updateIfPresent(byID: .remote("2"), in: .localAndRemote) {
        $0.title = "refused"
      }
      try await sketches.updateIfPresent(byID: id, in: .localAndRemote) { $0.title = "new" }
      try await settle(queue)
      var expected = old
      expected.title = "new"
      let sent = try #require(server.requests.last?.body?.bytes)
      #expect(try JSONDecoder().decode(Sketch.self, from: sent) == expected)
      #expect(try await sketches.get(byID: id) == expected)
    }
  }

  /// Lets the server answer all that is queued.
  private func settle(_ queue: APIClientQueue) async throws {
    server.isOffline = false
    while try queue.requests().contains(where: { $0.state != .failed }) {
      queue.flush()
      await Task.yield()
    }
  }
}
