import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import PandoURLSession
import Testing

@testable import PandoManagersFixtures

@Suite struct RemoteStoreTests {
  private static let dune = #"{"id":7,"title":"Dune"}"#
  private static let emma = #"{"id":8,"title":"Emma"}"#

  @Test func `reads of one, several and all entities send the usual requests`() async throws {
    try await QueueFixture.with { request in
      switch request.target {
      case "/volumes/7": .json(Self.dune)
      case "/volumes/8": .json(Self.emma)
      case "/volumes": .json("[\(Self.emma),\(Self.dune)]")
      default: .status(404, [:], "nothing")
      }
    } _: { fixture in
      let store = RemoteStore<Volume>(clientQueue: fixture.queue)
      let one = try await store.get(withQuery: Query(ids: [.remote(7)]), in: .remote())
      #expect(one.entities.map(\.title) == ["Dune"])
      let several = try await store.fetch(
        Query(ids: [.remote(8), .remote(9), .remote(7)]), in: .remote())
      #expect(several.result.entities.map(\.title) == ["Emma", "Dune"])
      #expect(several.isComplete)
      let all = try await store.fetch(.all, in: .remote())
      #expect(all.result.entities.map(\.title) == ["Emma", "Dune"], "the server's order")
      #expect(all.isComplete)
      let some = try await store.fetch(
        Query(filter: \Volume.title == "Dune", limit: 1), in: .remote())
      #expect(some.result.entities.map(\.title) == ["Dune"])
      #expect(!some.isComplete)
      let none = try await store.get(withQuery: Query(ids: [.remote(9)]), in: .remote())
      #expect(none.isEmpty)
      let error = await apiError {
        try await store.fetch(Query(ids: [.remote(9)]), in: .remote())
      }
      #expect(error?.remoteFailureKind == .notFound)
      #expect(error?.description == "GET /volumes/9: the server answered 404: nothing")
    }
  }

  @Test func `entities are found inside wrappers, and by a request of the caller's own`()
    async throws
  {
    try await QueueFixture.with { request in
      switch request.target {
      case "/writers": .json(#"{"data":{"count":1,"writers":[{"id":"a","name":"Ada"}]}}"#)
      case "/writers/a": .json(#"{"writer":{"id":"a","name":"Ada"}}"#)
      case "/search?q=ad%20a": .json(#"{"hits":[{"id":"a","name":"Ada"}]}"#)
      default: .json(#"{"writer":null}"#)
      }
    } _: { fixture in
      let store = RemoteStore<Writer>(clientQueue: fixture.queue)
      #expect(
        try await store.search(withQuery: .all, in: .remote()).entities.map(\.name) == ["Ada"])
      let one = try await store.get(withQuery: Query(ids: [.remote("a")]), in: .remote())
      #expect(one.first?.name == "Ada")
      let none = try await store.get(withQuery: Query(ids: [.remote("b")]), in: .remote())
      #expect(none.isEmpty)
      let custom = APIRequest(.get, "/search", query: [.init("q", "ad a")])
      let found = try await store.search(
        withQuery: .all, in: .remote(endpoint: .request(custom, payload: .under("hits"))))
      #expect(found.first?.name == "Ada")
    }
  }

  @Test(arguments: [
    (#"{"id":7}"#, #"the answer is no Volume: $: there is no "title""#),
    (#"{"id":7,"title":8}"#, "the answer is no Volume: $.title: expected String"),
    (#"{"id":7,"title":null}"#, "the answer is no Volume: $.title: expected String, found null"),
    (
      #"{"id":7,"title":"Du"#,
      "the answer is not JSON: line 1, column 17: the text that begins here has no end"
    ),
    ("<html>", "the answer is not JSON: line 1, column 1: expected a value, found <"),
  ])
  func `an error for a wrong entity names the request and the place`(
    body: String, reason: String
  ) async throws {
    try await QueueFixture.with { _ in
      .json(body)
    } _: { fixture in
      let store = RemoteStore<Volume>(clientQueue: fixture.queue)
      let error = await apiError {
        try await store.get(withQuery: Query(ids: [.remote(7)]), in: .remote())
      }
      #expect(error?.code == .malformedAnswer)
      #expect(error?.status == 200)
      let description = error?.description ?? ""
      #expect(description.hasPrefix("GET /volumes/7: " + reason), "\(description)")
    }
  }

  @Test func `an error names the place of a malformed entity in a list`() async throws {
    try await QueueFixture.with { request in
      request.target == "/writers"
        ? .json(#"{"data":{"writers":[{"id":"a","name":"Ada"},{"id":"b"}]}}"#)
        : .json("[\(Self.dune),{\"id\":{},\"title\":\"x\"}]")
    } _: { fixture in
      let writers = await apiError {
        try await RemoteStore<Writer>(clientQueue: fixture.queue)
          .search(withQuery: .all, in: .remote())
      }
      #expect(
        writers?.description
          == #"GET /writers: the answer is no Writer: $.data.writers[1]: there is no "name""#)
      let volumes = await apiError {
        try await RemoteStore<Volume>(clientQueue: fixture.queue)
          .search(withQuery: .all, in: .remote())
      }
      #expect(volumes?.description.contains("$[1].id") == true, "\(volumes as Any)")
    }
  }

  @Test func `a malformed entity in a list is skipped and reported, and its record stays`()
    async throws
  {
    let server = APIClientDouble()
    func answer(_ json: String) {
      server.answer(.get, "/songs", with: APIResponse(status: 200, body: Data(json.utf8)))
    }
    let events = Locked<[ManagerEvent]>([])
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Song.self, client: server, diskStoreConfig: .store(store),
        events: { event in events.withLock { $0.append(event) } })
      let songs = container[Song.self]
      answer(#"{"songs":[{"id":"1","title":"A"},{"id":"2","title":"B"},{"id":"3","title":"C"}]}"#)
      let all = ReadContext<Song>.remote(
        persistenceStrategy: .discardExtraLocalData)
      _ = try await songs.all(in: all)
      // Of what was left out nobody knows that it is the second; the third may have gone.
      answer(#"{"songs":[{"id":"1","title":"D"},{"id":"2","title":null},7]}"#)
      let answered = try await songs.all(in: all)
      #expect(answered.entities.map(\.title) == ["D"])
      let stored = try await songs.all().entities.map(\.title)
      #expect(stored == ["D", "B", "C"])
      #expect(events.withLock { $0.map(\.kind) } == [.malformedElement, .malformedElement])
      #expect(
        events.withLock { $0.first?.description }
          == "Song: malformedElement: GET /songs: the answer is no Song: $.songs[1].title: expected "
          + "String, found null")
      // One entity that was asked for is no element.
      server.answer(
        .get, "/songs/2", with: APIResponse(status: 200, body: Data(#"{"id":"2"}"#.utf8)))
      await #expect(throws: APIError.self) {
        try await songs.get(byID: .remote("2"), in: .remote())
      }
      await container.close()
    }
  }

  @Test func `entities of another type in an answer are stored in the same commit`() async throws {
    let server = APIClientDouble()
    let json =
      #"{"meta":{"total":9,"after":17},"links":{},"songs":[{"id":"1","title":"A"}],"#
      + #""included":{"writers":[{"id":"w","name":"Ada"}]}}"#
    server.answer(
      .get, "/songs",
      with: APIResponse(
        status: 200, headers: ["Link": "</first>; rel=\"first\", </songs?p=2>; rel=\"next\""],
        body: Data(json.utf8)))
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Song.self, Writer.self, client: server, diskStoreConfig: .store(store))
      let before = try await store.read { try $0.commitNumber.value }
      let all = ReadContext<Song>.remote(persistenceStrategy: .discardExtraLocalData)
      let page = try await container[Song.self].all(in: all).page
      #expect(page?.total == 9)
      #expect(page?.cursor == "17")
      #expect(page?.next == "/songs?p=2")
      #expect(page?.hasNext == true)
      #expect(try await store.read { try $0.commitNumber.value } <= before + 2)
      let writer = try await container[Writer.self].get(byID: .remote("w"))
      #expect(writer?.name == "Ada")
      // Set here later than it was asked for, it stays as it is; a page is not all there is.
      try await container[Song.self].set(Song(id: .remote("5"), title: "E"))
      server.hold()
      async let answered = container[Song.self].all(in: all)
      await server.received(2)
      try await container[Writer.self].set(Writer(id: .remote("w"), name: "Bo"))
      server.release()
      _ = try await answered
      #expect(try await container[Writer.self].get(byID: .remote("w"))?.name == "Bo")
      #expect(try await container[Song.self].all().count == 2)
      await container.close()
    }
  }

  @Test(arguments: [500, 409])
  func `a refusal keeps the words of the server`(status: Int) async throws {
    struct Problem: Error, Decodable, Equatable { var code: Int }
    let server = try TestServer { _ in .status(status, [:], #"{"code":17}"#) }
    defer { server.stop() }
    let client = try URLSessionAPIClient(server: server) { configuration in
      configuration.errorPayload = { response, _ in
        try? JSONDecoder().decode(Problem.self, from: response.body)
      }
    }
    let queue = APIClientQueue(client: client)
    let store = RemoteStore<Volume>(clientQueue: queue)
    let error = await apiError { try await store.search(withQuery: .all, in: .remote()) }
    #expect(error?.payload as? Problem == Problem(code: 17))
    #expect(error?.code == (status == 409 ? .conflict : .serverFailed))
    #expect(error?.remoteFailureKind == .other)
    await queue.close()
  }

  @Test func `half a body is a lost connection`() async throws {
    try await QueueFixture.with { _ in
      .half("[\(Self.dune),\(Self.emma)]")
    } _: { fixture in
      let store = RemoteStore<Volume>(clientQueue: fixture.queue)
      let error = await apiError { try await store.search(withQuery: .all, in: .remote()) }
      #expect(error?.remoteFailureKind == .connection)
      #expect(error?.request == "GET /volumes")
    }
  }

  @Test func `a call for which an API has no request fails with an error that says so`()
    async throws
  {
    try await QueueFixture.with { _ in
      .json("{}")
    } _: { fixture in
      let store = RemoteStore<Rule>(clientQueue: fixture.queue)
      let search = await apiError { try await store.search(withQuery: .all, in: .remote()) }
      #expect(search?.code == .noRequest)
      #expect(search?.description == "Rule: request(for:) has no request for a search")
      let set = await apiError {
        try await store.set([Rule(id: EntityIdentifier())], in: .remote())
      }
      #expect(set?.code == .invalidRequest)
      #expect(fixture.server.requests.isEmpty)
    }
  }

  @Test
  func `the answer to a write is as old as its request, so an edit after it wins`()
    async throws
  {
    let mayAnswer = Event()
    try await QueueFixture.with { request in
      if request.method == "PUT" { mayAnswer.wait() }
      return .json(#"{"id":7,"title":"Dune","edition":2}"#)
    } _: { fixture in
      let remote = RemoteStore<Volume>(clientQueue: fixture.queue)
      let volume = Volume(id: .remote(7), title: "Dune")
      let write = try remote.request(toSet: [volume], in: .localAndRemote)
      try await fixture.store.write { transaction in
        _ = try transaction.apply([volume], asOf: nil)
        try write.enqueue(&transaction)
      }
      write.committed()
      await fixture.server.received(1)
      var edited = volume
      edited.title = "Dune Messiah"
      let newer = edited
      try await fixture.store.write { _ = try $0.apply([newer], asOf: nil) }
      mayAnswer.signal()
      #expect(try await write.answer() == [newer])

      let again = try remote.request(toSet: [newer], in: .localAndRemote)
      try await fixture.store.write { transaction in
        _ = try transaction.apply([newer], asOf: nil)
        try again.enqueue(&transaction)
      }
      again.committed()
      #expect(try await again.answer() == [Volume(id: .remote(7), title: "Dune", edition: 2)])
      let state = try await fixture.store.read { try $0.sequenceState(of: "Volume:7") }
      #expect(state.isDated)
    }
  }

  @Test func `removing on the server removes here, but not entities edited since`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with { _ in
      mayAnswer.wait()
      return .status(204)
    } _: { fixture in
      let remote = RemoteStore<Volume>(clientQueue: fixture.queue)
      let volumes = [7, 8].map { Volume(id: .remote($0), title: "Dune") }
      try await fixture.store.write { _ = try $0.apply(volumes, asOf: nil) }
      let write = try remote.request(toRemove: volumes.map(\.id), in: .remote())
      try await write.enqueue()
      write.committed()
      let edited = Volume(id: .remote(8), title: "Emma")
      try await fixture.store.write { _ = try $0.apply([edited], asOf: nil) }
      mayAnswer.signal()
      _ = try await write.answer()
      #expect(
        fixture.server.requests.map(\.description).sorted() == [
          "DELETE /volumes/7", "DELETE /volumes/8",
        ])
      #expect(try await fixture.store.read { try $0.contains("Volume:7") } == false)
      #expect(try await fixture.store.read { try $0.get("Volume:8", as: Volume.self) } == edited)
    }
  }

  /// One identifier that the server lacks was an error; several were none.
  @Test(arguments: [[9], [9, 10], [7, 9], []])
  func `a removal by a query of identifiers removes those that the server has`(
    numbers: [Int]
  ) async throws {
    try await QueueFixture.with { request in
      switch (request.method, request.target) {
      case ("GET", "/volumes/7"): .json(Self.dune)
      case ("DELETE", "/volumes/7"): .status(204)
      default: .status(404)
      }
    } _: { fixture in
      let store = RemoteStore<Volume>(clientQueue: fixture.queue)
      let removed = try await store.removeAll(
        withQuery: Query(ids: numbers.map { .remote($0) }), in: .remote())
      #expect(removed == (numbers.contains(7) ? [.remote(7)] : []))
      #expect(fixture.server.requests.count { $0.method == "DELETE" } == removed.count)
    }
  }

  @Test func `entities that are on the server only are made and read through a queue in memory`()
    async throws
  {
    let server = try TestServer { request in
      request.method == "POST"
        ? .status(201, [:], #"{"id":"n1","text":"closed on Monday"}"#)
        : .json(#"[{"id":"n1","text":"closed on Monday"}]"#)
    }
    defer { server.stop() }
    let queue = APIClientQueue(client: try URLSessionAPIClient(server: server))
    let store = RemoteStore<Notice>(clientQueue: queue)
    let made = try await store.set(
      [Notice(id: EntityIdentifier(), text: "closed on Monday")], in: .remote())
    #expect(made.map(\.id) == [.remote("n1")])
    #expect(try await store.search(withQuery: .all, in: .remote()).entities == made)
    await queue.close()
  }

  @Test
  func `a caller that can't wait gets an error, and the write continues to wait`()
    async throws
  {
    let isOnline = Locked(false)
    try await QueueFixture.with { _ in
      isOnline.withLock { $0 } ? .json(Self.dune) : .drop
    } _: { fixture in
      let remote = RemoteStore<Volume>(clientQueue: fixture.queue)
      let write = try remote.request(
        toSet: [Volume(id: .remote(7), title: "Dune")], in: .remote())
      try await write.enqueue()
      write.committed()
      #expect(try await write.firstOutcome() == nil)
      isOnline.withLock { $0 = true }
      fixture.queue.flush()
      #expect(try await write.answer().map(\.title) == ["Dune"])
    }
  }
}

/// Of which malformed elements are left out.
private struct Song: PersistentEntity, RemoteEntity {
  var id: EntityIdentifier<Song>
  var title: String

  static let endpoint: APIPath = "/songs"

  static func payload(for path: RemotePath<Song>) -> RemotePayload<Song> {
    if case .search = path {
      return .under("songs").including(Writer.self, under: "included", "writers")
        .paged(total: ["meta", "total"], cursor: ["meta", "after"], next: ["links", "next"])
        .skippingMalformed
    }
    return .content.skippingMalformed
  }
}
