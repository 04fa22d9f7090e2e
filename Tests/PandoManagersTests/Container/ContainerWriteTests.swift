import Foundation
import PandoFixtures
import PandoManagers
import PandoStore
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// One write of a container over several types, lists and requests.
@Suite struct ContainerWriteTests {
  private struct Failure: Error {}

  /// An entity of which no server is told.
  private struct Note: PersistentEntity {
    static let modelTypeName = "WrittenNote"
    var id: EntityIdentifier<Note>
  }

  /// An entity that a server has and nobody can change there.
  private struct Fixed: PersistentEntity, RemoteEntity {
    static let modelTypeName = "WrittenFixed"
    var id: EntityIdentifier<Fixed>

    static func request(for path: RemotePath<Fixed>) throws -> APIRequest? { nil }
  }

  private let server = APIClientDouble()

  private func withContainer(
    _ body: (CoreManagerContainer, ModelStore) async throws -> Void
  ) async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Volume.self, Writer.self, Note.self, client: server,
        diskStoreConfig: .store(store))
      try await body(container, store)
      await container.close()
    }
  }

  private func answer(_ path: String, _ method: HTTPMethod, _ json: String) {
    server.answer(method, path, with: APIResponse(status: 200, body: Data(json.utf8)))
  }

  @Test func `several types and lists are one commit, seen as one`() async throws {
    try await withContainer { container, store in
      try await store.write { transaction in
        try transaction.setCollection("todo", to: [Book("1", "A"), Book("2", "B")])
        try transaction.setCollection("done", to: [] as [Book])
      }
      var writers = container[Writer.self].followAll().makeAsyncIterator()
      #expect(try await writers.next()?.isEmpty == true)
      let before = try await store.read { try $0.commitNumber.value }
      let written = try await container.write { entities in
        try entities.set(Writer(id: .remote("w"), name: "Ada"))
        try entities.set(Volume(id: .remote(7), title: "Dune", writer: .remote("w")))
        try entities.updateIfPresent(Volume.self, .remote(7)) { $0.title += " II" }
        try entities.transaction.moveElement(
          "Book:1", fromCollection: "todo", toCollection: "done", at: 0)
        return try entities.get(Volume.self, .remote(7))?.title
      }
      #expect(written.value == "Dune II")
      #expect(written.state == .stored)
      #expect(try await store.read { try $0.commitNumber.value } == before + 1)
      #expect(try await writers.next()?.entities.map(\.name) == ["Ada"])
      // In step: who has seen one sees all.
      #expect(try await container[Volume.self].get(byID: .remote(7))?.title == "Dune II")
      let done = try await store.read { try $0.collection("done", as: Book.self) }
      #expect(done?.map(\.title) == ["A"])
    }
  }

  @Test func `the requests are queued in the same commit, in the order of the calls`() async throws
  {
    server.isOffline = true
    answer("/volumes", .post, #"{"id":7,"title":"Dune"}"#)
    answer("/writers/w", .put, #"{"writer":{"id":"w","name":"Ada"}}"#)
    answer("/volumes/7", .put, #"{"id":7,"title":"Dune"}"#)
    answer("/volumes/9", .delete, "")
    try await withContainer { container, store in
      try await container[Volume.self].set(Volume(id: .remote(9), title: "Gone"))
      let written = try await container.write { entities in
        try entities.set(Volume(id: .local("a"), title: "?"), in: .localAndRemote)
        try entities.set(Writer(id: .remote("w"), name: "Ad"), in: .localAndRemote)
        try entities.updateIfPresent(Volume.self, .local("a"), in: .localAndRemote) {
          $0.title = "Dune"
        }
        try entities.updateIfPresent(Writer.self, .remote("w"), in: .localAndRemote) {
          $0.name += "a"
        }
        try entities.remove(Volume.self, .remote(9), in: .localAndRemote)
      }
      #expect(written.state == .queued)
      let queue = try #require(container.clientQueue)
      let waiting = try await store.read { try $0.queuedRequests() }.map { "\($0.request)" }
      #expect(
        waiting == [
          "POST /volumes", "PUT /writers/w", "PUT /volumes/local:a", "PUT /writers/w",
          "DELETE /volumes/9",
        ])
      server.isOffline = false
      queue.flush()
      try await written.confirmed()
      // What is about one entity goes out in order, the rest beside it.
      let sent = server.requests.map { request in
        "\(request) \(String(decoding: request.body?.bytes ?? Data(), as: UTF8.self))"
      }
      #expect(sent.count == 5)
      let volume = sent.filter { $0.contains("/volumes") && !$0.contains("/9") }
      #expect(volume.first?.hasPrefix("POST /volumes ") == true)
      #expect(volume.last?.hasPrefix("PUT /volumes/7 ") == true)
      #expect(volume.last?.contains("Dune") == true)
      #expect(sent.last { $0.contains("/writers") }?.contains("Ada") == true)
      // The server has named it.
      #expect(try await container[Volume.self].get(byID: .local("a"))?.id == .remote(7))
      #expect(try await container[Volume.self].get(byID: .remote(9)) == nil)
    }
  }

  @Test func `an entity that comes to name a later one is sent behind it`() async throws {
    server.isOffline = true
    answer("/volumes", .post, #"{"id":7,"title":"A"}"#)
    answer("/writers", .post, #"{"writer":{"id":"w","name":"Ada"}}"#)
    answer("/volumes/7", .put, #"{"id":7,"title":"A","writer":"w"}"#)
    try await withContainer { container, store in
      let written = try await container.write { entities in
        try entities.set(Volume(id: .local("a"), title: "A"), in: .localAndRemote)
        try entities.set(Writer(id: .local("b"), name: "Ada"), in: .localAndRemote)
        try entities.updateIfPresent(Volume.self, .local("a"), in: .localAndRemote) {
          $0.writer = .local("b")
        }
      }
      server.isOffline = false
      try #require(container.clientQueue).flush()
      try await written.confirmed()
      let sent = server.requests.map { "\($0)" }
      #expect(Set(sent.dropLast()) == ["POST /volumes", "POST /writers"])
      #expect(sent.last == "PUT /volumes/7")
      let left = try await store.read { try $0.queuedRequests() }
      #expect(left.isEmpty)
      let stored = try await container[Volume.self].get(byID: .remote(7))
      #expect(stored?.writer == .remote("w"))
    }
  }

  @Test func `a write after a removal by the former identifier stays`() async throws {
    server.isOffline = true
    answer("/volumes", .post, #"{"id":7,"title":"A"}"#)
    answer("/volumes/7", .put, #"{"id":7,"title":"C"}"#)
    answer("/volumes/7", .delete, "")
    try await withContainer { container, store in
      let queue = try #require(container.clientQueue)
      let made = try await container[Volume.self].set(
        Volume(id: .local("a"), title: "A"), in: .localAndRemote)
      server.isOffline = false
      queue.flush()
      try await made.confirmed()
      let written = try await container.write { entities in
        try entities.set(Volume(id: .remote(7), title: "B"), in: .localAndRemote)
        try entities.remove(Volume.self, .local("a"), in: .localAndRemote)
        try entities.set(Volume(id: .remote(7), title: "C"), in: .localAndRemote)
      }
      try await written.confirmed()
      let stored = try await container[Volume.self].get(byID: .remote(7))
      #expect(stored?.title == "C")
      #expect(server.requests.last.map { "\($0)" } == "PUT /volumes/7")
    }
  }

  @Test func `an entity refused before it is written leaves nothing, also if the error is caught`()
    async throws
  {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Fixed.self, client: server, diskStoreConfig: .store(store))
      let codes = try await container.write { entities in
        var codes: [APIError.Code?] = []
        for id in [EntityIdentifier<Fixed>.remote("1"), .local("2")] {
          do {
            try entities.set(Fixed(id: id), in: .localAndRemote)
          } catch {
            codes.append((error as? APIError)?.code)
          }
        }
        return codes
      }
      #expect(codes.value == [.noRequest, .invalidRequest])
      let stored = try await container[Fixed.self].all()
      #expect(stored.isEmpty)
      await container.close()
      let error = await #expect(throws: ManagerError.self) { try await container.write { _ in } }
      #expect(error?.code == .closed)
    }
  }

  /// A request that a later one with its uniquing key had replaced counted as confirmed.
  @Test func `a write whose request another write has replaced is not confirmed`() async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Marker.self, client: server, diskStoreConfig: .store(store))
      let queue = try #require(container.clientQueue)
      func write(_ places: Int...) async throws -> Written<Void> {
        try await container.write { entities in
          for place in places {
            try entities.set(Marker(id: .remote(1), place: place), in: .localAndRemote)
          }
        }
      }
      // The server holds the first request, so that the later ones wait behind it.
      func writeInFlight(_ place: Int) async throws -> Written<Void> {
        server.hold()
        let written = try await write(place)
        while try queue.requests().contains(where: { $0.state != .inFlight }) { await Task.yield() }
        return written
      }
      answer("/markers/1", .put, #"{"id":1,"place":3}"#)
      let sent = try await writeInFlight(0)
      let first = try await write(1)
      let second = try await write(2, 3)
      let replaced = await #expect(throws: ManagerError.self) { try await first.confirmed() }
      #expect(replaced?.code == .aborted)
      server.release()
      try await sent.confirmed()
      // Its last request has replaced the one before it.
      try await second.confirmed()
      #expect(server.requests.filter { "\($0)" == "PUT /markers/1" }.count == 2)
      // A refusal of the request that has replaced another one of its write is thrown.
      server.answer(.put, "/markers/1", with: APIResponse(status: 422))
      let alone = try await writeInFlight(8)
      let third = try await write(4, 5)
      server.release()
      await #expect(throws: APIError.self) { try await alone.confirmed() }
      let refused = await #expect(throws: APIError.self) { try await third.confirmed() }
      #expect(refused?.status == 422)
      #expect(try await container[Marker.self].get(byID: .remote(1))?.place == 3)
      await container.close()
    }
  }

  @Test func `a write that throws leaves no entity and no request`() async throws {
    server.isOffline = true
    try await withContainer { container, store in
      await #expect(throws: Failure.self) {
        try await container.write { entities in
          try entities.set(Volume(id: .remote(7), title: "Dune"), in: .localAndRemote)
          throw Failure()
        }
      }
      let volumes = try await container[Volume.self].all()
      #expect(volumes.isEmpty)
      let requests = try await store.read { try $0.queuedRequests() }
      #expect(requests.isEmpty)
    }
  }

  @Test func `a write that can't be in one commit is refused by name`() async throws {
    try await withContainer { container, _ in
      let remote = await #expect(throws: ManagerError.self) {
        try await container.write { try $0.remove(Volume.self, .remote(1), in: .remote()) }
      }
      #expect(remote?.code == .noStore)
      let unknown = await #expect(throws: ManagerError.self) {
        try await container.write { try $0.set(Book("1", "A")) }
      }
      #expect(unknown?.description == "Book: name the type where the container is made")
      let unqueued = await #expect(throws: ManagerError.self) {
        try await container.write {
          try $0.set(Note(id: .local("s")), in: .localAndRemote)
        }
      }
      #expect(unqueued?.code == .noStore)
      let absent = try await container.write { try $0.get(Volume.self, .remote(1)) }
      #expect(absent.value == nil)
    }
  }

  @Test func `no update of many tasks through two doors is lost`() async throws {
    try await withContainer { container, _ in
      try await container[Volume.self].set(Volume(id: .remote(1), title: "", edition: 0))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<60 {
          group.addTask {
            if number.isMultiple(of: 2) {
              try await container[Volume.self].updateIfPresent(byID: .remote(1)) {
                $0.edition = ($0.edition ?? 0) + 1
              }
            } else {
              try await container.write { entities in
                try entities.updateIfPresent(Volume.self, .remote(1)) {
                  $0.edition = ($0.edition ?? 0) + 1
                }
                try entities.set(Writer(id: .remote("\(number)"), name: ""))
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await container[Volume.self].get(byID: .remote(1))?.edition == 60)
      #expect(try await container[Writer.self].all().count == 30)
    }
  }
}

/// Its requests replace earlier ones that wait.
private struct Marker: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Marker>
  var place: Int
  static let endpoint: APIPath = "/markers"

  static func request(for path: RemotePath<Marker>) throws -> APIRequest? {
    guard case .update(let marker) = path else { return nil }
    var request = APIRequest(
      .put, endpoint.appending(marker.id), body: try APIBody(entity: marker))
    request.configuration.uniquingKey = "marker \(marker.id.text)"
    return request
  }

  func withIdentifier(_ id: EntityIdentifier<Marker>) -> Marker { Marker(id: id, place: place) }
}

/// A store's own calls by typed identifiers.
@Suite struct TypedIdentifierTests {
  private static func addC(to id: EntityIdentifier<Book>, in store: ModelStore) throws {
    try store.updateIfPresent(id) { $0.title += "C" }
  }

  @Test func `a typed identifier reads, updates and deletes the entity's node`() async throws {
    try await withModelStore { store in
      let id = EntityIdentifier<Book>.remote("1")
      let absent = try await store.updateIfPresent(id) { $0.title = "?" }
      #expect(absent == nil)
      try await store.write { try $0.set(Book("1", "A")) }
      let changed = try await store.updateIfPresent(id) { $0.title += "B" }
      #expect(changed?.title == "AB")
      try Self.addC(to: id, in: store)
      #expect(try await store.read { try $0.entity(id)?.title } == "ABC")
      let deletion = try await store.write { try $0.deleteIfPresent(id) }
      #expect(deletion?.deleted == ["Book:1"])
      #expect(try await store.read { try $0.entity(id) } == nil)
    }
  }

  @Test func `distinct gives each value once`() async throws {
    try await withModelStore { store in
      try await store.write { transaction in
        for (number, year) in [2001, 1999, 2001, nil].enumerated() {
          try transaction.set(Book(id: .remote("\(number)"), year: year))
        }
      }
      let query = Query<Book>(filter: !(\.id == .remote("9")))
      let answer = try await store.read { try $0.answer(.distinct(\.year), to: query) }
      #expect(answer == [nil, 1999, 2001])
    }
  }
}

/// Deletes of several entities where one keeps another from being deleted.
@Suite struct RestrictedRemovalTests {
  private struct Box: PersistentEntity {
    static let modelTypeName = "RestrictedBox"
    var id: EntityIdentifier<Box>
    var held: [Box] = []
  }

  private struct Rack: PersistentEntity, DeletionRuled {
    static let modelTypeName = "RestrictedRack"
    static let identifierNamespace = "RestrictedBox"
    static let deletionRules: [DeletionRule] = [.restrict("box")]
    var id: EntityIdentifier<Rack>
    var box: Box
  }

  @Test func `several are removed in whatever order the rules allow for`() async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Rack.self, Box.self, diskStoreConfig: .store(store))
      let racks = container[Rack.self]
      try await racks.set(Rack(id: .remote("rack"), box: Box(id: .remote("box"))))
      await #expect(throws: StoreError.self) { try await racks.remove(atID: .remote("box")) }
      // The held one comes first.
      try await racks.remove([.remote("box"), .remote("rack")])
      let left = try await store.read { try $0.count() }
      #expect(left == 0)
      await container.close()
    }
  }
}
