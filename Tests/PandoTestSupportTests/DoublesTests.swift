import Foundation
import PandoModels
import PandoStore
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// The doubles and helpers for tests of those who build on managers.
@Suite struct DoublesTests {
  private struct Tracks: EntityFactory {
    func entity(_ number: Int) -> Track { Track(number, "Track \(number)") }
  }

  @Test func `a factory makes equal entities for equal numbers`() {
    #expect(Tracks().entities(1...3) == [1, 2, 3].map { Tracks().entity($0) })
    #expect(Tracks().entity(2) { $0.genre = "jazz" } == Track(2, "Track 2", genre: "jazz"))
  }

  @Test func `a store double answers, records its calls and fails on request`()
    async throws
  {
    struct Away: Error {}
    let store = StoreDouble(.remote, entities: Tracks().entities(1...2))
    let manager = CoreManager<Track>(stores: [store])
    #expect(try await manager.get(byID: .remote(2), in: .remote()) == Tracks().entity(2))
    store.failure = Away()
    await #expect(throws: Away.self) { try await manager.all(in: .remote()) }
    store.failure = nil
    _ = try await store.removeAll(withQuery: .all, in: .local)
    #expect(store.entities.isEmpty)
    #expect(store.calls == [.get([.remote(2)]), .search(.all), .removeAll(.all)])
  }

  @Test func `a recorder waits for what is to come, and has what came`() async throws {
    let manager = CoreManager<Track>(stores: [InMemoryStore()])
    let recorder = FollowedRecorder(manager.followAll())
    try await recorder.element { $0.isEmpty }
    try await manager.set(Tracks().entity(1))
    let shown = try await recorder.element { !$0.isEmpty }
    #expect(shown.entities == [Tracks().entity(1)])
    #expect(recorder.elements.count == 2)
    let value = try await manager.followAll().value { $0.count == 1 }
    #expect(value == shown)
    recorder.cancel()
    await #expect(throws: FollowedEnd.self) { try await recorder.element { $0.count == 9 } }
  }

  @Test func `a client double gives the configured answers, and is offline on request`()
    async throws
  {
    let server = APIClientDouble()
    let content = Data("[]".utf8)
    server.answer(.get, "/tracks", with: APIResponse(status: 200, body: content))
    let request = APIRequest(.get, "/tracks")
    #expect(try await server.send(request).body == content)
    #expect(try await server.send(APIRequest(.get, "/other")).status == 404)
    server.isOffline = true
    let error = await #expect(throws: APIError.self) { try await server.send(request) }
    #expect(error?.isConnectionFailure == true)
    server.isOffline = false
    server.hold()
    async let answer = server.send(request)
    await server.received(3)
    server.release()
    #expect(try await answer.status == 200)
    #expect(server.requests.map(\.path.text) == ["/tracks", "/other", "/tracks"])
  }

  @Test func `a queue in memory sends what is queued to a client double`() async throws {
    let server = APIClientDouble()
    server.answer(.post, "/tracks", with: APIResponse(status: 201))
    let queue = APIClientQueue(client: server)
    _ = try await queue.send(APIRequest(.post, "/tracks"))
    #expect(server.requests.count == 1)
    await queue.close()
  }
}
