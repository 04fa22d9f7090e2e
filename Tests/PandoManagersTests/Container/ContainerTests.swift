import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

@Suite struct ContainerTests {
  private func temporary() -> DiskStoreConfig {
    var configuration = ModelStore.Configuration()
    configuration.mapSizeInBytes = 64 << 20
    return .temporary(configuration: configuration)
  }

  /// A client that nobody should ask.
  private struct Nowhere: APIClient {
    func send(_ request: APIRequest) async throws -> APIResponse {
      throw APIError(.connectionLost, request, "there is no server")
    }
  }

  @Test func `a manager is typed by the entity type it is asked for by`() async throws {
    let container = try CoreManagerContainer(
      entities: Book.self, Author.self, diskStoreConfig: temporary())
    let books: CoreManager<Book> = container[Book.self]
    try await books.set(Book("1", "A"))
    try await container[Author.self].set(Author(id: .remote(1), name: "Ada"))
    #expect(try await books.get(byID: .remote("1"))?.title == "A")
    #expect(try await container[Author.self].all().entities.map(\.name) == ["Ada"])
    #expect(container[Book.self] === books)
    #expect(container.manager(of: Draft.self) == nil)
    await container.close()
  }

  @Test func `a container in memory follows queries of its store, and ends with it`() async throws {
    let container = try CoreManagerContainer(
      entities: Book.self, Author.self, diskStoreConfig: .inMemory())
    let books = container[Book.self]
    try await books.set(Book("1", "A"))
    var titles = books.followAll().makeAsyncIterator()
    #expect(try await titles.next()?.entities.map(\.title) == ["A"])
    try await books.updateIfPresent(byID: .remote("1")) { $0.title = "B" }
    #expect(try await titles.next()?.entities.map(\.title) == ["B"])
    await container.close()
    await #expect(throws: (any Error).self) { try await books.set(Book("2", "C")) }
  }

  @Test(arguments: [
    "try CoreManagerContainer()", "try CoreManagerContainer(diskStoreConfig: .temporary())",
    "try CoreManagerContainer(cacheLimit: 512, client: client, diskStoreConfig: .none)",
    "try CoreManagerContainer(client: nil, events: nil)",
  ])
  func `a container without entity types is a compile error that says what to name`(
    call: String
  ) throws {
    let (status, output) = try compile(
      "import PandoRemote\nfunc test(_ client: any APIClient) throws { _ = \(call) }")
    #expect(status != 0, "it compiles")
    #expect(
      output.contains(
        "name the entity types: CoreManagerContainer(entities: Book.self, Author.self)"),
      "\(output)")
  }

  /// A draft of which old ones may be lost.
  private struct Sketch: LocalEntity {
    var id: EntityIdentifier<Sketch>

    static func stores(with configuration: StackConfiguration) -> [any Storing<Sketch>] {
      [LRUStore(store: InMemoryStore(), limit: configuration.cacheLimit)]
    }
  }

  @Test func `entities in memory only are limited where their type says so`() async throws {
    let container = try CoreManagerContainer(
      entities: Note.self, Sketch.self, cacheLimit: 2)
    for key in ["a", "b", "c"] {
      try await container[Note.self].set(Note(id: .local(key)))
      try await container[Sketch.self].set(Sketch(id: .local(key)))
    }
    #expect(try await container[Note.self].all().count == 3)
    #expect(
      try await container[Sketch.self].all().entities.map(\.id) == [.local("b"), .local("c")])
    await container.close()
  }

  /// A server that gives what is made the number 7.
  private struct Numbering: APIClient {
    func send(_ request: APIRequest) async throws -> APIResponse {
      guard request.method == .post else { return APIResponse(status: 204) }
      return APIResponse(status: 201, body: Data(#"{"id":7,"title":"Dune"}"#.utf8))
    }
  }

  @Test func `an entity is found, set and removed by the identifier it had before the server's`()
    async throws
  {
    let container = try CoreManagerContainer(
      entities: Volume.self, client: Numbering(), diskStoreConfig: temporary())
    let volumes = container[Volume.self]
    let old = EntityIdentifier<Volume>.local("draft")
    let written = try await volumes.set(Volume(id: old, title: "Dune"), in: .localAndRemote)
    #expect(written.state == .queued)
    let confirmed = try await written.confirmed()
    #expect(confirmed.id == .remote(7))
    let found = try await volumes.get(byID: old)
    #expect(found?.id == .remote(7))
    try await volumes.set(Volume(id: old, title: "Dune Messiah"))
    let all = try await volumes.all()
    #expect(all.entities == [Volume(id: .remote(7), title: "Dune Messiah")])
    try await volumes.remove(atID: old)
    let left = try await volumes.all()
    #expect(left.isEmpty)
    await container.close()
  }

  @Test func `asking for a type that the container does not have stops the process`() async {
    await #expect(processExitsWith: .failure) {
      _ = try CoreManagerContainer(entities: Book.self)[Author.self]
    }
  }

  @Test func `a negative cache limit stops the process`() async {
    await #expect(processExitsWith: .failure) {
      _ = try CoreManagerContainer(entities: Book.self, cacheLimit: -1)
    }
  }

  @Test func `the default stack is that of the kind of entity`() throws {
    func levels<E: Entity>(
      _ type: E.Type, _ config: DiskStoreConfig, client: (any APIClient)? = Nowhere()
    ) throws -> [StoreLevel] {
      let stack = try CoreManagerContainer(
        entities: type, client: client, diskStoreConfig: config)[type].stack
      return (stack.local + stack.remote).map(\.level)
    }
    #expect(try levels(Note.self, temporary()) == [.memory])
    #expect(try levels(Draft.self, temporary()) == [.disk])
    #expect(try levels(Gauge.self, temporary()) == [.remote])
    #expect(try levels(Book.self, temporary()) == [.disk, .remote])
    #expect(try levels(Ticket.self, temporary()) == [.memory, .remote])
    #expect(try levels(Book.self, temporary(), client: nil) == [.disk])
    #expect(try levels(Draft.self, .none) == [.memory])
  }

  @Test func `a type can say where it is kept, and gets what the service configured`()
    async throws
  {
    let container = try CoreManagerContainer(
      entities: Custom.self, cacheLimit: 7, diskStoreConfig: .none(custom: "a shelf"))
    try await container[Custom.self].set(Custom(id: .local("a")))
    let stored = try await container[Custom.self].all()
    #expect(stored.entities.map(\.note) == ["a shelf 7"])
  }

  @Test func `indexes that types declare are made when the container opens`() async throws {
    try await withModelStore { store in
      try await store.write { try $0.set(Book("1", "A")) }
      let container = try CoreManagerContainer(entities: Book.self, diskStoreConfig: .store(store))
      let indexes = try await store.read { try $0.indexes(ofType: "Book").map(\.field).sorted() }
      #expect(indexes == Book.fields.filter(\.isIndexed).map(\.name).sorted())
      let found = try await container[Book.self].search(withQuery: Query(filter: \.title == "A"))
      #expect(found.count == 1)
      await container.close()
    }
  }

  @Test func `two containers over one store see each other, whatever their limits`() async throws {
    try await withModelStore { store in
      let containers = try [1, 100, 0].map { limit in
        try CoreManagerContainer(
          entities: Book.self, cacheLimit: limit, diskStoreConfig: .store(store))
      }
      for (number, writer) in containers.enumerated() {
        try await writer[Book.self].set(Book("1", "\(number)"))
        for reader in containers {
          let read = try await reader[Book.self].get(byID: .remote("1"))
          #expect(read?.title == "\(number)")
        }
      }
      try await containers[0][Book.self].remove(atID: .remote("1"))
      for reader in containers {
        let read = try await reader[Book.self].get(byID: .remote("1"))
        #expect(read == nil)
      }
      for container in containers { await container.close() }
      // The store is not theirs.
      let count = try await store.read { try $0.count(ofType: "Book") }
      #expect(count == 0)
    }
  }

  @Test func `a second container that opens the same path is refused, and the first goes on`()
    async throws
  {
    try await withTemporaryDirectory { path in
      let first = try CoreManagerContainer(entities: Book.self, diskStoreConfig: .path(path))
      #expect(throws: (any Error).self) {
        try CoreManagerContainer(entities: Book.self, diskStoreConfig: .path(path))
      }
      try await first[Book.self].set(Book("1", "A"))
      await first.close()
      let second = try CoreManagerContainer(entities: Book.self, diskStoreConfig: .path(path))
      let read = try await second[Book.self].get(byID: .remote("1"))
      #expect(read?.title == "A")
      await second.close()
      await second.close()
    }
  }

  @Test func `a type whose fields do not fit what is stored is a clear error, and nothing is lost`()
    async throws
  {
    try await withModelStore { store in
      try await store.write { try $0.set(Self.earlierItem) }
      let error = #expect(throws: ManagerError.self) {
        try CoreManagerContainer(entities: Item.self, diskStoreConfig: .store(store))
      }
      #expect(error?.code == .incompatibleEntity)
      #expect(error?.description.contains("price") == true)
      let left = try await store.read { try $0.tree("Item:local:a")?["name"] }
      #expect(left == .string("A"))
    }
  }

  /// One bad record was enough that nothing could be opened, if it was the first of its type.
  @Test(arguments: [true, false])
  func `a container opens whichever record comes first`(badComesFirst: Bool) async throws {
    try await withModelStore { store in
      if badComesFirst { try await store.write { try $0.set(Self.earlierItem) } }
      try await store.write { try $0.set(Item(id: .local("b"), name: "B", price: 2)) }
      if !badComesFirst { try await store.write { try $0.set(Self.earlierItem) } }
      let events = Locked<[ManagerEvent]>([])
      let container = try CoreManagerContainer(
        entities: Item.self, diskStoreConfig: .store(store)
      ) { event in events.withLock { $0.append(event) } }
      let items = container[Item.self]
      let error = await #expect(throws: ModelError.self) { try await items.all() }
      #expect(error?.identifier == "Item:local:a")
      let found = try await items.search(withQuery: .all.skippingUndecodable)
      #expect(found.entities.map(\.name) == ["B"])
      #expect(found.undecodable.map(\.identifier) == ["Item:local:a"])
      #expect(found.undecodable.first?.error.field == "price")
      #expect(try store.undecodable(Item.self).map(\.identifier) == ["Item:local:a"])
      var values = items.followAll().makeAsyncIterator()
      #expect(try await values.next()?.entities.map(\.name) == ["B"])
      #expect(events.withLock { $0.map(\.kind) } == [.undecodableEntity])
      await container.close()
    }
  }

  /// An item of before its type had a price.
  private static let earlierItem = TreeNode(
    "Item:local:a", type: "Item",
    fields: .object(["id": .string("local:a"), "name": .string("A")]))

  @Test func `reading one entity that does not fit names it, and the others can be read`()
    async throws
  {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Item.self, diskStoreConfig: .store(store))
      let items = container[Item.self]
      try await items.set(Item(id: .local("b"), name: "B", price: 2))
      try await store.write { try $0.set(Self.earlierItem) }
      let error = await #expect(throws: ModelError.self) { try await items.get(byID: .local("a")) }
      #expect(error?.identifier == "Item:local:a")
      #expect(error?.field == "price")
      let other = try await items.get(byID: .local("b"))
      #expect(other?.price == 2)
      await container.close()
    }
  }
}

/// Lives on a server only.
struct Gauge: RemoteEntity {
  var id: EntityIdentifier<Gauge>
}

/// Lives in memory and on a server.
struct Ticket: LocalEntity, RemoteEntity {
  var id: EntityIdentifier<Ticket>
}

/// Says itself where it is kept.
struct Custom: PersistentEntity {
  var id: EntityIdentifier<Custom>
  var note = ""

  static func stores(with configuration: StackConfiguration) -> [any Storing<Custom>] {
    let text = configuration.diskStoreConfig.custom as? String ?? ""
    return [Noting(note: "\(text) \(configuration.cacheLimit)")]
  }
}

/// Writes a note on everything.
private struct Noting: Storing {
  let note: String
  let inside = InMemoryStore<Custom>()
  var level: StoreLevel { .memory }

  func get(
    withQuery query: Query<Custom>, in context: ReadContext<Custom>
  ) async throws -> QueryResult<Custom> { try await inside.get(withQuery: query, in: context) }

  func search(
    withQuery query: Query<Custom>, in context: ReadContext<Custom>
  ) async throws -> QueryResult<Custom> { try await inside.search(withQuery: query, in: context) }

  func set(_ entities: [Custom], in context: WriteContext<Custom>) async throws -> [Custom] {
    try await inside.set(entities.map { Custom(id: $0.id, note: note) }, in: context)
  }

  func remove(
    _ identifiers: [EntityIdentifier<Custom>], in context: WriteContext<Custom>
  ) async throws { try await inside.remove(identifiers, in: context) }

  func removeAll(
    withQuery query: Query<Custom>, in context: WriteContext<Custom>
  ) async throws -> [EntityIdentifier<Custom>] {
    try await inside.removeAll(withQuery: query, in: context)
  }
}

/// A type to which a field was added that has no default.
struct Item: PersistentEntity {
  var id: EntityIdentifier<Item>
  var name: String
  var price: Int
}
