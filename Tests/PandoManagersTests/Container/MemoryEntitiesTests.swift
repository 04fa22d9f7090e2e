import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoProviders
import PandoRemote
import PandoStore
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// Entities that are never on disk have what entities on disk have.
@Suite struct MemoryEntitiesTests {
  private struct Lamp: LocalEntity {
    static let modelTypeName = "MemoryLamp"
    var id: EntityIdentifier<Lamp>
    var watts = 0
    static let fields: [Field<Lamp>] = [.indexed(\.watts)]
  }

  private struct Room: LocalEntity, DeletionRuled {
    static let modelTypeName = "MemoryRoom"
    static let deletionRules: [DeletionRule] = [.restrict("lamp")]
    var id: EntityIdentifier<Room>
    var lamp: Lamp
  }

  /// An entity that is on a server and in memory.
  private struct Ticket: LocalEntity, MutableEntity {
    static let modelTypeName = "MemoryTicket"
    static let endpoint: APIPath = "/tickets"
    var id: EntityIdentifier<Ticket>
    var text = ""
    var other: EntityIdentifier<Ticket>?
    static let relationships: [EntityRelationship<Ticket>] = [.to(\.other, "other")]

    func withIdentifier(_ id: EntityIdentifier<Ticket>) -> Ticket {
      Ticket(id: id, text: text, other: other)
    }
  }

  private struct Crate: LocalEntity, DeletionRuled {
    static let modelTypeName = "MemoryCrate"
    static let deletionRules: [DeletionRule] = [.owned("tickets")]
    var id: EntityIdentifier<Crate>
    var tickets: [Ticket] = []
  }

  private let server = APIClientDouble()

  private func withContainer(
    besideDisk: Bool, _ body: (CoreManagerContainer) async throws -> Void
  ) async throws {
    let container = try CoreManagerContainer(
      entities: Lamp.self, Room.self, Ticket.self, Crate.self, Book.self, client: server,
      diskStoreConfig: besideDisk ? .temporary() : .none)
    try await body(container)
    await container.close()
  }

  @Test(arguments: [false, true])
  func `a query uses the index that the type declares`(besideDisk: Bool) async throws {
    try await withContainer(besideDisk: besideDisk) { container in
      for watts in 0..<50 {
        try await container[Lamp.self].set(Lamp(id: .remote("\(watts)"), watts: watts))
      }
      let query = Query<Lamp>(filter: \.watts == 7)
      #expect(try await container[Lamp.self].search(withQuery: query).entities.map(\.watts) == [7])
      let store = try #require(container.memoryStore ?? container.diskStoreConfig.modelStore)
      let plan = try store.explain(query)
      #expect("\(plan)".contains("watts"), "\(plan)")
      let onDisk = try await container.diskStoreConfig.modelStore?.read { try $0.count() }
      #expect(onDisk == (besideDisk ? 0 : 50))
    }
  }

  @Test(arguments: [false, true])
  func `a change of a child is seen in its parent, and a rule forbids a removal`(besideDisk: Bool)
    async throws
  {
    try await withContainer(besideDisk: besideDisk) { container in
      let (lamps, rooms) = (container[Lamp.self], container[Room.self])
      let lamp = Lamp(id: .remote("1"), watts: 5)
      try await rooms.set(Room(id: .remote("a"), lamp: lamp))
      let provider = DataProvider<Room>(dataModelManager: container.dataModelManager)
      try await provider.setData(
        Room(id: .remote("a"), lamp: lamp), updateCache: false
      ).committed()
      try await lamps.updateIfPresent(byID: .remote("1")) { $0.watts = 9 }
      #expect(try await rooms.get(byID: .remote("a"))?.lamp.watts == 9)
      #expect(provider.data?.lamp.watts == 9)
      let error = await #expect(throws: StoreError.self) {
        try await lamps.remove(atID: .remote("1"))
      }
      #expect(error?.code == .restricted)
      #expect(try await lamps.get(byID: .remote("1"))?.watts == 9)
    }
  }

  @Test func `several types are one commit in a container without a disk`() async throws {
    try await withContainer(besideDisk: false) { container in
      try await container.write { entities in
        try entities.set(Lamp(id: .remote("1"), watts: 1))
        try entities.set(Book("1", "Emma"))
      }
      #expect(try await container[Lamp.self].get(byID: .remote("1"))?.watts == 1)
      #expect(try await container[Book.self].get(byID: .remote("1"))?.title == "Emma")
      await #expect(throws: CancellationError.self) {
        try await container.write { entities in
          try entities.set(Lamp(id: .remote("2")))
          throw CancellationError()
        }
      }
      #expect(try await container[Lamp.self].get(byID: .remote("2")) == nil)
    }
  }

  @Test func `beside a disk a write of a container refuses a type that is not there`() async throws
  {
    try await withContainer(besideDisk: true) { container in
      let error = await #expect(throws: ManagerError.self) {
        try await container.write { try $0.set(Lamp(id: .remote("1"))) }
      }
      #expect(error?.code == .noStore)
    }
  }

  @Test func `a refused write is taken back in a container without a disk`() async throws {
    try await withContainer(besideDisk: false) { container in
      let tickets = container[Ticket.self]
      try await tickets.set(Ticket(id: .remote("1"), text: "before"))
      server.answer(.put, "/tickets/1", with: APIResponse(status: 422))
      server.hold()
      let written = try await tickets.set(
        Ticket(id: .remote("1"), text: "after"), in: .localAndRemote)
      #expect(try await tickets.get(byID: .remote("1"))?.text == "after")
      server.release()
      await #expect(throws: APIError.self) { try await written.confirmed() }
      #expect(try await tickets.get(byID: .remote("1"))?.text == "before")
    }
  }

  @Test(arguments: [false, true])
  func `references to a local entity get the server identifier`(besideDisk: Bool) async throws {
    try await withContainer(besideDisk: besideDisk) { container in
      let tickets = container[Ticket.self]
      let json = #"{"id":"7","text":"made"}"#
      server.answer(.post, "/tickets", with: APIResponse(status: 200, body: Data(json.utf8)))
      try await tickets.set(Ticket(id: .remote("1"), text: "names", other: .local("a")))
      let made = try await tickets.set(Ticket(id: .local("a"), text: "made"), in: .localAndRemote)
      try await made.confirmed()
      #expect(try await tickets.get(byID: .local("a"))?.id == .remote("7"))
      #expect(try await tickets.get(byID: .remote("1"))?.other == .remote("7"))
      #expect(try await tickets.all().count == 2)
    }
  }

  @Test(arguments: [false, true])
  func `a child that names an entity stays a child when the server assigns an identifier`(
    besideDisk: Bool
  ) async throws {
    try await withContainer(besideDisk: besideDisk) { container in
      let tickets = container[Ticket.self]
      let json = #"{"id":"7","text":"made"}"#
      server.answer(.post, "/tickets", with: APIResponse(status: 200, body: Data(json.utf8)))
      let child = Ticket(id: .remote("1"), text: "names", other: .local("a"))
      try await container[Crate.self].set(Crate(id: .remote("c"), tickets: [child]))
      let made = try await tickets.set(Ticket(id: .local("a"), text: "made"), in: .localAndRemote)
      try await made.confirmed()
      #expect(try await tickets.get(byID: .remote("1"))?.other == .remote("7"))
      try await container[Crate.self].remove(atID: .remote("c"))
      #expect(try await tickets.all().entities.map(\.id) == [.remote("7")])
    }
  }

  @Test func `after a logout nothing is left beside a disk`() async throws {
    try await withContainer(besideDisk: true) { container in
      try await container[Lamp.self].set(Lamp(id: .remote("1")))
      try await container[Book.self].set(Book("1", "Emma"))
      try await container.removeAllLocalData()
      #expect(try await container[Lamp.self].all().isEmpty)
      #expect(try await container[Book.self].all().isEmpty)
    }
  }
}
