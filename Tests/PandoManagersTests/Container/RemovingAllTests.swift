import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoProviders
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// After a logout nothing of the user is here, and nothing is sent for them.
@Suite struct RemovingAllTests {
  let server = APIClientDouble()

  private func withContainer(
    _ body: (CoreManagerContainer, ModelStore) async throws -> Void
  ) async throws {
    server.answer(.put, "/volumes/7", with: Self.ok(#"{"id":7,"title":"A"}"#))
    server.answer(.put, "/volumes/8", with: APIResponse(status: 422))
    server.answer(.post, "/volumes", with: Self.ok(#"{"id":9,"title":"B"}"#))
    server.answer(.get, "/volumes/7", with: Self.ok(#"{"id":7,"title":"late"}"#))
    let store = try ModelStore.temporary()
    let container = try CoreManagerContainer(
      entities: Volume.self, Writer.self, Notice.self, client: server,
      diskStoreConfig: .store(store))
    try await body(container, store)
    await container.close()
    await store.close()
  }

  private static func ok(_ text: String) -> APIResponse {
    APIResponse(status: 200, body: Data(text.utf8))
  }

  @Test func `removing all sends no waiting request, stores no late response, and leaves nothing`()
    async throws
  {
    try await withContainer { container, store in
      let volumes = container[Volume.self]
      let queue = try #require(container.clientQueue)
      _ = try? await volumes.set(Volume(id: .remote(8), title: "refused"), in: .localAndRemote)
        .confirmed()
      try await store.write {
        try $0.append([.node(TreeNode("Note:1", type: "Note"))], toCollection: "notes")
      }
      server.hold()
      let read = Task { try await volumes.get(byID: .remote(7), in: .remote()) }
      await server.received(2)
      let sent = try await volumes.set(Volume(id: .remote(7), title: "sent"), in: .localAndRemote)
      let new = try await volumes.set(Volume(id: .local("b"), title: "new"), in: .localAndRemote)
      await server.received(3)
      let commit = try await store.read { try $0.commitNumber.value }
      try await container.removeAllLocalData()
      #expect(try await store.read { try $0.commitNumber.value } == commit + 1, "one commit")
      for written in [sent, new] {
        let error = await apiError { try await written.confirmed() }
        #expect(error?.code == .dropped)
      }
      let readError = await apiError { try await read.value }
      #expect(readError?.code == .dropped)
      server.release()
      try expectNothing(in: store)
      #expect(try queue.requests().isEmpty)
      let count = server.requests.count

      // The next user begins anew, and the order of writes goes on.
      queue.flush()
      let next = try await volumes.set(Volume(id: .remote(7), title: "A"), in: .localAndRemote)
      try await next.confirmed()
      #expect(server.requests.dropFirst(count).map(\.description) == ["PUT /volumes/7"])
      #expect(try await volumes.get(byID: .remote(7), in: .remote())?.title == "late")
      #expect(try await volumes.get(byID: .remote(7))?.title == "late")
      #expect(try store.verify().problems.isEmpty)
    }
  }

  /// Takes its time to complete a request, and counts those that are sent.
  private final class SlowClient: APIClient {
    let (isAsked, isReady) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
    let isDone = AsyncStream<Void>.makeStream()
    let sentCount = Locked(0)

    func prepareRequest(_ request: APIRequest) async throws -> APIRequest {
      isAsked.continuation.finish()
      // Whether it was cancelled or not.
      await Task { for await _ in isReady.stream {} }.value
      defer { isDone.continuation.finish() }
      return request
    }

    func send(_ request: APIRequest) async throws -> APIResponse {
      sentCount.withLock { $0 += 1 }
      return APIResponse(status: 204)
    }
  }

  @Test func `a request that was not sent before the removal is not sent after it`() async throws {
    let client = SlowClient()
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Volume.self, client: client, diskStoreConfig: .store(store))
      try await container[Volume.self].set(
        Volume(id: .remote(7), title: "old"), in: .localAndRemote)
      for await _ in client.isAsked.stream {}
      try await container.removeAllLocalData()
      client.isReady.continuation.finish()
      for await _ in client.isDone.stream {}
      // Behind what was to be sent: another one is.
      let written = try await container[Volume.self].set(
        Volume(id: .remote(7), title: "new"), in: .localAndRemote)
      try await written.confirmed()
      #expect(client.sentCount.withLock { $0 } == 1)
      await container.close()
    }
  }

  @Test func `an answer to a read that began before comes too late`() async throws {
    try await withContainer { container, store in
      let before = await SequenceNumber.of(commit: try store.read { try $0.commitNumber.value })
      try await container.removeAllLocalData()
      let late = Volume(id: .remote(7), title: "late")
      _ = try await store.write { try $0.apply([late], asOf: before).map(\.stored?.title) }
      try expectNothing(in: store)
    }
  }

  @Test func `followed queries and providers show nothing, and go on`() async throws {
    try await withContainer { container, store in
      let volumes = container[Volume.self]
      try await volumes.set(Volume(id: .remote(1), title: "one"))
      var results = volumes.followAll().makeAsyncIterator()
      #expect(try await results.next()?.entities.count == 1)
      try await container.removeAllLocalData()
      #expect(try await results.next()?.entities.isEmpty == true)
      try await volumes.set(Volume(id: .remote(2), title: "two"))
      #expect(try await results.next()?.entities.map(\.title) == ["two"])
    }
  }

  private func expectNothing(in store: ModelStore) throws {
    try store.read { snapshot in
      #expect(try snapshot.count() == 0)
      #expect(try snapshot.collectionKeys().isEmpty)
      var names: [String] = []
      try snapshot.forEachProperty(withPrefix: "") { name, _ in
        names.append(name)
        return true
      }
      #expect(names == ["queue-next"] || names.isEmpty)
    }
  }
}
