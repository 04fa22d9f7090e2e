import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRecords
import PandoRemote
import PandoStore
import PandoTestSupport
import Testing

@Model private struct Singer: PersistentEntity {
  var id: EntityIdentifier<Singer>
  var name: String
}

@Model private struct Song: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Song>
  @Indexed var title: String
  var length: Duration = .zero
  var singer: EntityIdentifier<Singer>?
  var guests: [EntityIdentifier<Singer>] = []
  static let endpoint: APIPath = "/songs"
}

@Model(of: Song.self) private struct SongTitle: PersistentEntity {
  var id: EntityIdentifier<SongTitle>
  var title: String
}

/// With a field that requests can leave out.
@Model private struct Score: PersistentEntity, RemoteEntity {
  var id: EntityIdentifier<Score>
  @Indexed var title: String
  var pages: Lazy<[String]> = .unrequested
}

/// A song without a macro.
private struct PlainSong: Codable {
  var id: Int
  var title: String
  var length: Duration
  var singer: String?
  var guests: [String] = []
}

/// Entities whose members `@Model` generates.
@Suite struct DeclaredEntityTests {
  @Test func `an entity is stored, found by an index and shown by a light entity`() async throws {
    let store = try ModelStore.temporary()
    let container = try CoreManagerContainer(
      entities: Song.self, SongTitle.self, diskStoreConfig: .store(store))
    let songs = container[Song.self]
    for number in 1...20 {
      try await songs.set(Song(id: .remote(number), title: "t\(number % 5)"))
    }
    let query = Query(filter: \Song.title == "t1")
    let found = try await songs.search(withQuery: query, in: .local).entities
    #expect(found.map(\.id.text) == ["1", "6", "11", "16"])
    let plan = try await store.read { try $0.explain(query) }
    #expect(plan.access == .index(field: "title", rangeCount: 1, isOrdered: false))
    #expect(try await songs.answer(.count.grouped(by: \.title), to: .all)["t0"] == 4)
    let title = try await container[SongTitle.self].get(byID: .remote(6), in: .local)
    #expect(title == SongTitle(id: .remote(6), title: "t1"))
    await container.close()
  }

  @Test func `a server names an entity, and its relationships`() async throws {
    let server = APIClientDouble()
    let made = Data(#"{"id":7,"title":"x","length":[0,0],"guests":[]}"#.utf8)
    server.answer(.post, "/songs", with: APIResponse(status: 201, body: made))
    let container = try CoreManagerContainer(
      entities: Song.self, Singer.self, client: server, diskStoreConfig: .temporary())
    let new = Song(id: EntityIdentifier(), title: "x")
    let stored = try await container[Song.self].set(new, in: .localAndRemote).confirmed()
    #expect(stored == Song(id: .remote(7), title: "x"))
    await container.close()

    let local = Song(id: .local("a"), title: "x")
    #expect(local.withIdentifier(.remote(7)) == stored)
    #expect(local.modelIdentifier == "Song:local:a")
    #expect(Song.fields.map(\.name) == ["title", "length", "singer", "guests[]"])
    #expect(Song.relationships.map(\.name) == ["singer", "guests"])
    let song = Song(
      id: .remote(1), title: "x", singer: .remote("a"), guests: [.remote("b"), .remote("c")])
    let related = Song.relationships.flatMap { $0.relatedIdentifiers(of: song) }
    #expect(related == ["Singer:a", "Singer:b", "Singer:c"])
  }

  @Test func `its records have the bytes of Codable`() throws {
    let song = Song(id: .remote(7), title: "A", length: .seconds(3), singer: .remote("s"))
    let plain = PlainSong(id: 7, title: "A", length: .seconds(3), singer: "s")
    #expect(
      try RecordEncoder.encodeValue(song).body
        == RecordEncoder.encodeValue(song, usingFields: false).body)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(try encoder.encode(song) == encoder.encode(plain))
  }

  @Test func `an unrequested field of a declared entity keeps the stored value`() async throws {
    let container = try CoreManagerContainer(
      entities: Score.self, diskStoreConfig: .temporary())
    let scores = container[Score.self]
    try await scores.set(Score(id: .remote("1"), title: "a", pages: .requested(["p"])))
    try await scores.set(Score(id: .remote("1"), title: "b"))
    let score = try await scores.get(byID: .remote("1"), in: .local)
    #expect(score == Score(id: .remote("1"), title: "b", pages: .requested(["p"])))
    await container.close()
  }
}
