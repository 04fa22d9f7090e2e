import Foundation
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport

@testable import PandoManagersFixtures

/// On disk and on a server that gives one at a time.
struct Tale: PersistentEntity, RemoteEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Tale>
  var text = ""
  var authors: [EntityIdentifier<Bard>] = []
  var tags: [EntityIdentifier<Mark>] = []
  var sequel: EntityIdentifier<Tale>?

  static let endpoint: APIPath = "/tales"
  static let fields: [Field<Tale>] = [.field(\.text, "text")]
  static let relationships: [EntityRelationship<Tale>] = [
    .to(\.authors, "authors"), .to(\.tags, "tags"), .to(\.sequel, "sequel"),
  ]

  init(_ id: Int, _ text: String = "", authors: [Int] = [], tags: [Int] = [], sequel: Int? = nil) {
    self.id = .remote(id)
    self.text = text
    self.authors = authors.map { .remote($0) }
    self.tags = tags.map { .remote($0) }
    self.sequel = sequel.map { .remote($0) }
  }
}

/// On disk and on a server that gives several at once.
struct Bard: PersistentEntity, RemoteEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Bard>
  var text = ""
  var guild: EntityIdentifier<Guild>?
  var favorite: EntityIdentifier<Tale>?

  static let relationships: [EntityRelationship<Bard>] = [
    .to(\.guild, "guild"), .to(\.favorite, "favorite"),
  ]

  init(_ id: Int, _ text: String = "", guild: Int? = nil, favorite: Int? = nil) {
    self.id = .remote(id)
    self.text = text
    self.guild = guild.map { .remote($0) }
    self.favorite = favorite.map { .remote($0) }
  }

  static func request(for path: RemotePath<Bard>) throws -> APIRequest? {
    GraphLibrary.request("/bards", path)
  }
}

/// In memory and on a server that gives several at once.
struct Guild: LocalEntity, RemoteEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Guild>
  var text = ""
  var chief: EntityIdentifier<Bard>?

  static let relationships: [EntityRelationship<Guild>] = [.to(\.chief, "chief")]

  init(_ id: Int, _ text: String = "", chief: Int? = nil) {
    self.id = .remote(id)
    self.text = text
    self.chief = chief.map { .remote($0) }
  }

  static func request(for path: RemotePath<Guild>) throws -> APIRequest? {
    GraphLibrary.request("/guilds", path)
  }
}

/// In memory only.
struct Mark: LocalEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Mark>
  var text = ""
  var tale: EntityIdentifier<Tale>?

  static let relationships: [EntityRelationship<Mark>] = [.to(\.tale, "tale")]

  init(_ id: Int, _ text: String = "", tale: Int? = nil) {
    self.id = .remote(id)
    self.text = text
    self.tale = tale.map { .remote($0) }
  }
}

/// A container of these types, and a server in memory.
struct GraphLibrary {
  struct Shelf: Sendable {
    var tales: [Tale] = []
    var bards: [Bard] = []
    var guilds: [Guild] = []
    /// The paths whose requests are refused.
    var refused: Set<String> = []
  }

  let client = APIClientDouble()
  let shelf = Locked(Shelf())
  let container: CoreManagerContainer

  private init(onDisk: Bool, events: ManagerEventHandler?) throws {
    container = try CoreManagerContainer(
      entities: Tale.self, Bard.self, Guild.self, Mark.self, client: client,
      diskStoreConfig: onDisk ? .temporary(configuration: Following.configuration) : .none,
      events: events)
    answer("/tales", \.tales)
    answer("/bards", \.bards)
    answer("/guilds", \.guilds)
  }

  /// Runs `body` with an empty library.
  static func with(
    onDisk: Bool = true, events: ManagerEventHandler? = nil,
    _ body: (GraphLibrary) async throws -> Void
  ) async throws {
    let library = try GraphLibrary(onDisk: onDisk, events: events)
    do {
      try await body(library)
    } catch {
      await library.container.close()
      throw error
    }
    await library.container.close()
  }

  var tales: CoreManager<Tale> { container[Tale.self] }
  var bards: CoreManager<Bard> { container[Bard.self] }
  var guilds: CoreManager<Guild> { container[Guild.self] }
  var marks: CoreManager<Mark> { container[Mark.self] }

  /// The requests that the server got, in order.
  var requests: [String] { client.requests.map { "\($0)" } }

  static func request<E: RemoteEntity>(_ endpoint: APIPath, _ path: RemotePath<E>) -> APIRequest? {
    switch path {
    case .get(let id): APIRequest(.get, endpoint.appending(id))
    case .getAll(let ids):
      APIRequest(
        .get, endpoint, query: [APIRequest.QueryItem("ids", ids.map(\.text).joined(separator: ","))]
      )
    case .search: APIRequest(.get, endpoint)
    default: nil
    }
  }

  private func answer<E: Entity & Codable>(
    _ path: String, _ entities: any KeyPath<Shelf, [E]> & Sendable
  ) {
    client.answer(.get, path) { [shelf] request in
      let shelf = shelf.withLock { $0 }
      if shelf.refused.contains(path) { return APIResponse(status: 403) }
      let ids = request.query.first?.value.split(separator: ",").map(String.init)
      let found = shelf[keyPath: entities].filter { ids?.contains($0.id.text) ?? true }
      return APIResponse(status: 200, body: try JSONEncoder().encode(found))
    }
    for number in 1...30 {
      client.answer(.get, "\(path)/\(number)") { [shelf] request in
        let shelf = shelf.withLock { $0 }
        if shelf.refused.contains(path) { return APIResponse(status: 403) }
        let found = shelf[keyPath: entities].first { $0.id.text == "\(number)" }
        guard let found else { return APIResponse(status: 404) }
        return APIResponse(status: 200, body: try JSONEncoder().encode(found))
      }
    }
  }
}
