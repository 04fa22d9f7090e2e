import Foundation
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// Fields of which the server does not know stay as they are here.
@Suite struct LocalOnlyFieldTests {
  private func onDisk(
    _ server: APIClientDouble, cacheLimit: Int,
    _ body: (CoreManager<DiskMark>, CoreManagerContainer) async throws -> Void
  ) async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: DiskMark.self, cacheLimit: cacheLimit, client: server,
        diskStoreConfig: .store(store))
      try await body(container[DiskMark.self], container)
      await container.close()
    }
  }

  private func inMemory(
    _ server: APIClientDouble,
    _ body: (CoreManager<MemoryMark>, CoreManagerContainer) async throws -> Void
  ) async throws {
    let container = try CoreManagerContainer(entities: MemoryMark.self, client: server)
    try await body(container[MemoryMark.self], container)
    await container.close()
  }

  private func reads<E: Marked>(_ marks: CoreManager<E>, _ server: APIClientDouble) async throws {
    server.answer(.get, "/marks/1", json: #"{"id":1,"name":"A"}"#)
    server.answer(.get, "/marks", json: #"[{"id":2,"name":"B2"},{"id":1,"name":"A2"}]"#)
    let new = try await marks.get(byID: .remote(1), in: .remote())
    #expect(new?.mark == "none")
    try await marks.updateIfPresent(byID: .remote(1)) { $0.mark = "mine" }
    let again = try await marks.get(byID: .remote(1), in: .remote())
    #expect(again?.mark == "mine", "the answer has it, too")
    let all = try await marks.all(in: .remote()).entities
    #expect(all == [E(.remote(2), "B2", "none"), E(.remote(1), "A2", "mine")])
    let ephemeral = try await marks.all(in: .remote(persistenceStrategy: .doNotPersist)).entities
    #expect(ephemeral == all)
    let stored = try await marks.all().entities
    #expect(Set(stored.map(\.mark)) == ["none", "mine"])
    #expect(try await marks.get(byID: .remote(1)) == E(.remote(1), "A2", "mine"))
  }

  @Test(arguments: [0, 8])
  func `answers leave them as they are on disk`(cacheLimit: Int) async throws {
    let server = APIClientDouble()
    try await onDisk(server, cacheLimit: cacheLimit) { marks, _ in try await reads(marks, server) }
  }

  @Test func `answers leave them as they are in memory`() async throws {
    let server = APIClientDouble()
    try await inMemory(server) { marks, _ in try await reads(marks, server) }
  }

  private func filters<E: Marked>(
    _ marks: CoreManager<E>, _ server: APIClientDouble, _ mine: Filter<E>
  ) async throws {
    server.answer(.get, "/marks", json: #"[{"id":1,"name":"A"},{"id":2,"name":"B"}]"#)
    _ = try await marks.all(in: .remote())
    try await marks.updateIfPresent(byID: .remote(1)) { $0.mark = "mine" }
    let found = try await marks.search(
      withQuery: Query(filter: mine),
      in: .remote(persistenceStrategy: .discardExtraLocalData))
    #expect(found.entities == [E(.remote(1), "A", "mine")])
    #expect(try await marks.all().count == 2)
  }

  @Test func `a search by such a field finds what has it here, and removes nothing`() async throws {
    let server = APIClientDouble()
    try await onDisk(server, cacheLimit: 8) { marks, _ in
      try await filters(marks, server, \DiskMark.mark == "mine")
    }
    let other = APIClientDouble()
    try await inMemory(other) { marks, _ in
      try await filters(marks, other, \MemoryMark.mark == "mine")
    }
  }

  private func writes<E: Marked>(
    _ marks: CoreManager<E>, _ server: APIClientDouble
  ) async throws {
    server.answer(.post, "/marks", json: #"{"id":5,"name":"A"}"#)
    server.answer(.put, "/marks/5", json: #"{"id":5,"name":"B!"}"#)
    let made = try await marks.set(E(.local("x"), "A", "mine"), in: .localAndRemote)
    #expect(try await made.confirmed() == E(.remote(5), "A", "mine"))
    #expect(try await marks.get(byID: .remote(5)) == E(.remote(5), "A", "mine"))
    server.hold()
    let changed = try await marks.set(E(.remote(5), "B", "mine"), in: .localAndRemote)
    try await marks.updateIfPresent(byID: .remote(5)) { $0.mark = "newer" }
    server.release()
    let mark = try await changed.confirmed().mark
    #expect(mark == "newer")
    #expect(try await marks.get(byID: .remote(5))?.mark == "newer")
    #expect(server.bodies.allSatisfy { !$0.contains("mark") }, "never sent")
  }

  @Test func `answers to writes leave them as they are, on disk and in memory`() async throws {
    let server = APIClientDouble()
    try await onDisk(server, cacheLimit: 8) { marks, _ in try await writes(marks, server) }
    let other = APIClientDouble()
    try await inMemory(other) { marks, _ in try await writes(marks, other) }
  }

  @Test func `included and contained entities keep local fields, each its own`() async throws {
    let server = APIClientDouble()
    server.answer(
      .get, "/parcels",
      json: #"{"parcels":[{"_id":1,"title":"T","lines":[],"addr":{"zip":"2"}}],"#
        + #""more":{"couriers":[{"id":"a","full_name":"Al"}]}}"#)
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Parcel.self, Courier.self, Van.self, client: server,
        diskStoreConfig: .store(store))
      try await container[Courier.self].set([
        Courier(id: .remote("a"), fullName: "A", nickName: "ace"),
        Courier(id: .remote("b"), fullName: "B", nickName: "bee"),
      ])
      try await container[Parcel.self].set(
        Parcel(id: .remote(1), title: "T", address: Parcel.Address(code: "1", memo: "ring")))
      _ = try await container[Parcel.self].all(in: .remote())
      let courier = try await container[Courier.self].get(byID: .remote("a"))
      #expect(courier == Courier(id: .remote("a"), fullName: "Al", nickName: "ace"))
      let parcel = try await container[Parcel.self].get(byID: .remote(1))
      #expect(parcel?.address == Parcel.Address(code: "2", memo: "ring"))
      // The driver is another one now; each has what is stored of him.
      server.answer(
        .get, "/vans/v",
        json: #"{"id":"v","driven_by":{"id":"a","full_name":"Al"},"others":[]}"#)
      _ = try await container[Van.self].get(byID: .remote("v"), in: .remote())
      server.answer(
        .get, "/vans/v",
        json: #"{"id":"v","driven_by":{"id":"b","full_name":"Bo"},"#
          + #""others":[{"id":"a","full_name":"Al"},{"id":"c","full_name":"Cy"}]}"#)
      _ = try await container[Van.self].get(byID: .remote("v"), in: .remote())
      let van = try await container[Van.self].get(byID: .remote("v"))
      #expect(van?.driver?.nickName == "bee")
      #expect(van?.others.map(\.nickName) == ["ace", nil])
      #expect(server.requests.count == 3)
      await container.close()
    }
  }
}
