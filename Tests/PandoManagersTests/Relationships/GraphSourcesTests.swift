import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

/// Graphs whose entities are on disk, in memory and on a server.
@Suite struct GraphSourcesTests {
  private let first = Query<Tale>(ids: [.remote(1)])

  /// Tale 1 of six authors, two of whom are here, and of two guilds, which are not.
  private func fill(_ library: GraphLibrary) async throws {
    try await library.tales.set(Tale(1, "here", authors: Array(1...6)))
    try await library.bards.set([Bard(1, "here", guild: 1), Bard(2, "here", guild: 2)])
    library.shelf.withLock { shelf in
      shelf.tales = [Tale(1, "server", authors: Array(1...6))]
      shelf.bards = (1...5).map { Bard($0, "server", guild: $0 % 2 + 1) }
      shelf.guilds = [Guild(1, "server", chief: 1), Guild(2, "server")]
    }
  }

  @Test func `absent entities are requested once for each type and step, and stored`()
    async throws
  {
    try await GraphLibrary.with { library in
      try await fill(library)
      let graph = try await library.tales.graph(of: first, in: .localOr(.remote()))
      #expect(
        library.requests.ordered() == ["GET /bards?ids=3%2C4%2C5%2C6", "GET /guilds?ids=1%2C2"])
      #expect(
        graph.all(of: Bard.self).map(\.text) == ["here", "here", "server", "server", "server"])
      #expect(graph.all(of: Guild.self).count == 2)
      #expect(graph.missing == ["Bard:6"] && graph.pending.isEmpty && graph.failures.isEmpty)
      #expect(try await library.tales.graph(of: first) == graph, "all of it is stored")
      // What the server lacks is asked for again, and nothing else.
      _ = try await library.tales.graph(of: first, in: .localOr(.remote()))
      #expect(library.requests.count == 3 && library.requests.last == "GET /bards/6")
    }
  }

  @Test func `a context of the server asks for all, each entity once, also in circles`()
    async throws
  {
    try await GraphLibrary.with { library in
      try await library.tales.set(Tale(2, "here"))
      library.shelf.withLock { shelf in
        shelf.tales = [
          Tale(1, "server", authors: [1, 2], sequel: 2), Tale(2, "server", authors: [2], sequel: 1),
        ]
        shelf.bards = [Bard(1, "server", guild: 1, favorite: 2), Bard(2, "server", favorite: 1)]
        shelf.guilds = [Guild(1, "server", chief: 1)]
      }
      let graph = try await library.tales.graph(of: first, in: .remote())
      #expect(
        library.requests.ordered() == [
          "GET /bards?ids=1%2C2", "GET /guilds/1", "GET /tales/1", "GET /tales/2",
        ])
      #expect(graph.count == 5 && graph.missing.isEmpty)
      #expect(graph.all(of: Tale.self).map(\.text) == ["server", "server"])
    }
  }

  @Test func `an entity that the server lacks is missing, also if stored here`() async throws {
    try await GraphLibrary.with { library in
      try await library.tales.set(Tale(1, "here", authors: [1, 2]))
      try await library.bards.set([Bard(1, "here"), Bard(2, "here")])
      library.shelf.withLock { $0.bards = [Bard(1, "server")] }
      let shape = GraphShape<Tale>.all.reading(\.authors, in: .remote())
      let graph = try await library.tales.graph(of: first, shape: shape)
      #expect(graph.all(of: Bard.self) == [Bard(1, "server")])
      #expect(graph.missing == ["Bard:2"])
      let lenient = GraphShape<Tale>.all.reading(\.authors, in: .remoteOrLocal)
      let other = try await library.tales.graph(of: first, shape: lenient)
      #expect(other.all(of: Bard.self) == [Bard(1, "server"), Bard(2, "here")])
    }
  }

  /// An entity that is on a server alone.
  private struct Seal: RemoteEntity {
    static let modelTypeName = "GraphSeal"
    static let endpoint: APIPath = "/seals"
    var id: EntityIdentifier<Seal>
    typealias RemoteID = Int
  }

  private struct Letter: PersistentEntity, RemoteEntity {
    static let modelTypeName = "GraphLetter"
    static let endpoint: APIPath = "/letters"
    static let relationships: [EntityRelationship<Letter>] = [.to(\.seal, "seal")]
    var id: EntityIdentifier<Letter>
    var seal: EntityIdentifier<Seal>
    typealias RemoteID = Int
  }

  @Test(arguments: [true, false])
  func `an entity on the server only is shown, or missing`(isThere: Bool) async throws {
    let server = APIClientDouble()
    let container = try CoreManagerContainer(
      entities: Letter.self, Seal.self, client: server,
      diskStoreConfig: .temporary(configuration: Following.configuration))
    let letters = container[Letter.self]
    try await letters.set(Letter(id: .remote(1), seal: .remote(2)))
    server.answer(.get, "/letters/1", json: #"{"id":1,"seal":2}"#)
    if isThere {
      server.answer(.get, "/seals/2", json: #"{"id":2}"#)
    } else {
      server.answer(.get, "/seals/2", with: APIResponse(status: 404))
    }
    for context in [ReadContext<Letter>.networkFirst, .localOr(.remote()), .remote()] {
      let graph = try await letters.graph(of: Query(ids: [.remote(1)]), in: context)
      #expect(graph.missing == (isThere ? [] : ["GraphSeal:2"]))
      let seals: [Seal] = graph.all(of: Seal.self)
      #expect(seals.map(\.id) == (isThere ? [.remote(2)] : []))
    }
    await container.close()
  }

  @Test func `each path has the context that is said for it, and the rest the default`()
    async throws
  {
    try await GraphLibrary.with { library in
      try await fill(library)
      library.shelf.withLock { $0.tales.append(Tale(2, "server")) }
      try await library.tales.set(Tale(1, "here", authors: [1], sequel: 2))
      let shape = GraphShape<Tale>.all.reading(\.authors, in: .remote())
        .reading(\.authors, \.guild, in: .local).reading(\.authors, \.guild, \.chief, in: .local)
      let graph = try await library.tales.graph(of: first, shape: shape)
      #expect(library.requests == ["GET /bards/1"])
      #expect(graph[EntityIdentifier<Bard>.remote(1)]?.text == "server")
      #expect(graph.missing.ordered() == ["Guild:2", "Tale:2"])
      let rest = shape.reading(in: .localOr(.remote()))
      let whole = try await library.tales.graph(of: first, shape: rest)
      #expect(whole.missing == ["Guild:2"])
      #expect(library.requests.dropFirst().ordered() == ["GET /bards/1", "GET /tales/2"])
    }
  }

  @Test func `an entity that breaks the contract of its path is asked for`() async throws {
    try await GraphLibrary.with { library in
      try await fill(library)
      try await library.tales.set(Tale(1, authors: [1, 2]))
      try await library.bards.set(Bard(2, "good"))
      let good = ClosureContract<Bard> { bard, _ in bard.text != "here" }
      let shape = GraphShape<Tale>.including(GraphPath(\.authors))
      let asking = shape.reading(\.authors, in: .localOr(.remote()).with(contract: good))
      let graph = try await library.tales.graph(of: first, shape: asking)
      #expect(graph.all(of: Bard.self).map(\.text) == ["server", "good"])
      #expect(library.requests == ["GET /bards/1"])
      try await library.bards.set(Bard(1, "here"))
      let strict = shape.reading(\.authors, in: .local.with(contract: good))
      #expect(try await library.tales.graph(of: first, shape: strict).missing == ["Bard:1"])
    }
  }

  @Test func `a failing path is reported with a partial graph, if the shape tolerates that`()
    async throws
  {
    try await GraphLibrary.with { library in
      try await fill(library)
      library.shelf.withLock { $0.refused = ["/bards"] }
      await #expect(throws: APIError.self) {
        try await library.tales.graph(of: first, in: .localOr(.remote()))
      }
      let shape = GraphShape<Tale>.all.toleratingFailures
      let graph = try await library.tales.graph(of: first, shape: shape, in: .localOr(.remote()))
      #expect(graph.all(of: Guild.self).count == 2, "the other path goes on")
      #expect(graph.failures.map(\.path) == ["authors"])
      #expect(graph.failures.first?.identifiers == ["Bard:3", "Bard:4", "Bard:5", "Bard:6"])
      #expect((graph.failures.first?.error as? APIError)?.code == .refused)
      #expect(graph.missing == graph.failures.first?.identifiers)
      library.client.isOffline = true
      let lost = try await library.tales.graph(
        of: first, shape: shape.reading(\.authors, in: .remote()))
      #expect(lost.count == 1)
      #expect((lost.failures.first?.error as? APIError)?.code == .connectionLost)
    }
  }

  @Test func `without connection a lenient context shows what is here`() async throws {
    try await GraphLibrary.with { library in
      try await fill(library)
      library.client.isOffline = true
      let graph = try await library.tales.graph(of: first, in: .remoteOrLocal)
      #expect(graph.all(of: Bard.self).map(\.text) == ["here", "here"])
      #expect(graph.failures.isEmpty)
    }
  }

  @Test func `an answer that is not to be stored is shown, and stored nowhere`() async throws {
    try await GraphLibrary.with { library in
      try await fill(library)
      let context = ReadContext<Tale>.remote(persistenceStrategy: .doNotPersist)
      let graph = try await library.tales.graph(of: first, in: context)
      #expect(graph.roots.map(\.text) == ["server"])
      #expect(Set(graph.all(of: Bard.self).map(\.text)) == ["server"])
      #expect(graph.all(of: Guild.self).count == 2)
      let stored = try await library.bards.all().entities.map(\.text)
      #expect(stored == ["here", "here"])
      #expect(try await library.guilds.all().isEmpty)
    }
  }

  @Test func `stored entities are given, and requested in the background`() async throws {
    try await GraphLibrary.with { library in
      try await fill(library)
      let graph = try await library.tales.graph(of: first, in: .localThen(.remote()))
      #expect(graph.roots.map(\.text) == ["here"])
      #expect(graph.all(of: Bard.self).prefix(2).map(\.text) == ["here", "here"])
      #expect(graph.all(of: Bard.self).count == 5, "what is not here is waited for")
      await library.tales.drain()
      await library.bards.drain()
      await library.guilds.drain()
      #expect(try await Set(library.bards.all().entities.map(\.text)) == ["server"])
      #expect(try await library.tales.all().entities.map(\.text) == ["server"])
      #expect(library.requests.count { $0.hasPrefix("GET /bards") } == 2)
      // Also where two paths with contexts of their own lead to it.
      try await library.tales.set(Tale(1, authors: [1], sequel: 2))
      try await library.tales.set(Tale(2, authors: [1]))
      let shape = GraphShape<Tale>.all.limited(toDepth: 2)
        .reading(\.authors, in: .localThen(.remote()))
        .reading(\.sequel, \.authors, in: .localThen(.remote()))
      let asked = library.requests.count
      _ = try await library.tales.graph(of: first, shape: shape)
      await library.bards.drain()
      #expect(library.requests.dropFirst(asked) == ["GET /bards/1"])
    }
  }

  @Test func `a user with local access only sends no request`() async throws {
    struct Here: UserAccessValidating { var userAccess: UserAccess { .local } }
    try await GraphLibrary.with { library in
      try await fill(library)
      let context = ReadContext<Tale>.localOr(.remote()).with(accessValidator: Here())
      let graph = try await library.tales.graph(of: first, in: context)
      #expect(graph.missing.count == 6 && library.requests.isEmpty)
    }
  }

  @Test func `entities in memory are roots, and related ones`() async throws {
    for onDisk in [true, false] {
      try await GraphLibrary.with(onDisk: onDisk) { library in
        try await library.marks.set(Mark(1, "a", tale: 1))
        try await library.guilds.set(Guild(1, "here", chief: 7))
        if onDisk { try await library.tales.set(Tale(1, "here", tags: [1, 2])) }
        let graph = try await library.marks.graph()
        #expect(graph.roots == [Mark(1, "a", tale: 1)])
        #expect(graph.missing == (onDisk ? ["Mark:2"] : ["Tale:1"]))
        library.shelf.withLock { shelf in
          shelf.bards = [Bard(7, "server", guild: 1)]
          shelf.tales = [Tale(1, "server")]
        }
        let guilds = try await library.guilds.graph(in: .localOr(.remote()))
        #expect(guilds.count == 2 && guilds.missing.isEmpty)
        #expect(library.requests == ["GET /bards/7"])
      }
    }
  }

  @Test func `an identifier that is claimed for one request is in no other`() {
    var ask = GraphAsk(Bard.self, origin: nil, isBehind: false)
    ask.identifiers = ["Bard:1", "Bard:2", "Bard:1"].map { ByteString($0) }
    ask.paths = ["authors", "authors", "sequel.authors"]
    var progress = GraphProgress()
    #expect(progress.claim(ask, fetcher: nil)?.identifiers == Array(ask.identifiers.prefix(2)))
    let rest = progress.claim(ask, fetcher: nil)
    #expect(rest?.identifiers == nil)
    // A source of the caller's own is asked by itself.
    #expect(progress.claim(ask, fetcher: 0)?.identifiers.count == 2)
  }

  @Test func `a manager without a container finds what is of its own type`() async throws {
    let (memory, server) = (InMemoryStore<Tale>(), ScriptedStore<Tale>(.remote))
    server.entities = [Tale(2, "server", authors: [1], sequel: 3), Tale(3, "server", sequel: 1)]
    let manager = CoreManager<Tale>(stores: [memory, server])
    try await manager.set(Tale(1, "here", sequel: 2))
    let graph = try await manager.graph(of: first, in: .localOr(.remote()))
    #expect(graph.all(of: Tale.self).map(\.id) == [.remote(1), .remote(2), .remote(3)])
    #expect(graph.missing == ["Bard:1"] && server.calls == ["get", "get"])
    // Stores that can't answer at once are asked, too.
    let middle = ScriptedStore<Tale>(.memory, [Tale(1, "here", sequel: 2)])
    let other = CoreManager<Tale>(stores: [middle, server])
    let same = try await other.graph(of: first, in: .localOr(.remote()))
    #expect(same.all(of: Tale.self).map(\.id) == [.remote(1), .remote(2), .remote(3)])
  }
}

/// The same, followed.
@Suite struct FollowedGraphSourcesTests {
  private let first = Query<Tale>(ids: [.remote(1)])

  @Test func `first comes what is here, then each answer, then each change`() async throws {
    try await GraphLibrary.with { library in
      try await library.tales.set(Tale(1, "here", authors: [1, 2, 9], sequel: 2))
      try await library.bards.set(Bard(1, "here", guild: 1))
      library.shelf.withLock { shelf in
        shelf.tales = [Tale(2, "server")]
        shelf.bards = [Bard(2, "server")]
        shelf.guilds = [Guild(1, "server")]
      }
      library.client.hold()
      let graphs = FollowedRecorder(
        library.tales.followGraph(of: first, in: .localOr(.remote())))
      let local = try await graphs.element { _ in true }
      #expect(local.count == 2 && local.missing.isEmpty)
      #expect(Set(local.pending) == ["Bard:2", "Bard:9", "Tale:2", "Guild:1"])
      await library.client.received(3)
      library.client.release()
      let whole = try await graphs.element { $0.pending.isEmpty }
      #expect(whole.count == 5 && whole.missing == ["Bard:9"])
      #expect(library.requests.count == 3)
      // What is in memory, on disk, or was missed counts.
      try await library.guilds.set(Guild(1, "changed"))
      try await graphs.element { $0.all(of: Guild.self).first?.text == "changed" }
      try await library.bards.set(Bard(9, "come"))
      try await graphs.element { $0.missing.isEmpty && $0.count == 6 }
      // What comes up later is asked for.
      library.shelf.withLock { $0.bards.append(Bard(5, "server")) }
      try await library.tales.set(Tale(1, "here", authors: [5]))
      try await graphs.element { $0.all(of: Bard.self).map(\.text) == ["server"] }
      #expect(library.requests.last == "GET /bards/5" && library.requests.count == 4)
      graphs.cancel()
    }
  }

  @Test func `answers are shown as they come, a slow one keeps none waiting`() async throws {
    try await GraphLibrary.with { library in
      try await library.tales.set(Tale(1, authors: [1], sequel: 2))
      library.shelf.withLock { $0.tales = [Tale(2, "server")] }
      let late = AsyncStream<Void>.makeStream()
      library.client.answer(.get, "/bards/1") { _ in
        for await _ in late.stream { break }
        return APIResponse(status: 404)
      }
      let graphs = FollowedRecorder(
        library.tales.followGraph(of: first, in: .localOr(.remote())))
      let partial = try await graphs.element { $0.count == 2 }
      #expect(partial.pending == ["Bard:1"])
      late.continuation.yield()
      try await graphs.element { $0.pending.isEmpty && $0.missing == ["Bard:1"] }
      graphs.cancel()
    }
  }

  @Test func `a failing path ends the iteration, or is reported`() async throws {
    try await GraphLibrary.with { library in
      try await library.tales.set(Tale(1, authors: [1], sequel: 2))
      library.shelf.withLock { shelf in
        shelf.tales = [Tale(2, "server")]
        shelf.refused = ["/bards"]
      }
      let ending = FollowedRecorder(
        library.tales.followGraph(of: first, in: .localOr(.remote())))
      await #expect(throws: APIError.self) { try await ending.element { _ in false } }
      let shape = GraphShape<Tale>.all.toleratingFailures
      let graphs = FollowedRecorder(
        library.tales.followGraph(of: first, shape: shape, in: .localOr(.remote())))
      let partial = try await graphs.element { $0.pending.isEmpty }
      #expect(partial.count == 2 && partial.failures.map(\.path) == ["authors"])
      try await library.bards.set(Bard(1, "come"))
      let whole = try await graphs.element { $0.count == 3 }
      #expect(whole.failures.isEmpty)
      graphs.cancel()
    }
  }

  @Test func `an entity that the server lacks is missing until it is set here`() async throws {
    try await GraphLibrary.with { library in
      try await library.tales.set(Tale(1, authors: [1, 2]))
      try await library.bards.set(Bard(2, "here"))
      library.shelf.withLock { $0.bards = [Bard(1, "server")] }
      let shape = GraphShape<Tale>.all.reading(\.authors, in: .remote())
      let graphs = FollowedRecorder(library.tales.followGraph(of: first, shape: shape))
      let graph = try await graphs.element { $0.pending.isEmpty }
      #expect(graph.count == 2 && graph.missing == ["Bard:2"])
      try await library.bards.set(Bard(2, "set"))
      try await graphs.element { $0.all(of: Bard.self).map(\.text) == ["server", "set"] }
      graphs.cancel()
    }
  }

  /// A late answer hid an entity that was set after its request, until the next change of it.
  @Test func `an entity that is set here after the request is shown though the server lacks it`()
    async throws
  {
    for onDisk in [true, false] {
      try await GraphLibrary.with(onDisk: onDisk) { library in
        try await library.tales.set(Tale(1, authors: [1, 2]))
        library.client.hold()
        let shape = GraphShape<Tale>.all.reading(\.authors, in: .remote())
        let graphs = FollowedRecorder(library.tales.followGraph(of: first, shape: shape))
        try await graphs.element { $0.pending.count == 2 }
        await library.client.received(1)
        try await library.bards.set(Bard(2, "set"))
        library.client.release()
        let graph = try await graphs.element { $0.pending.isEmpty }
        #expect(graph.all(of: Bard.self) == [Bard(2, "set")] && graph.missing == ["Bard:1"])
        #expect(try await library.bards.get(byID: .remote(2)) == Bard(2, "set"))
        graphs.cancel()
      }
    }
  }

  @Test func `graphs of entities in memory are followed, with a store and without`() async throws {
    for onDisk in [true, false] {
      try await GraphLibrary.with(onDisk: onDisk) { library in
        try await library.marks.set(Mark(1, "a", tale: 1))
        let graphs = FollowedRecorder(
          library.marks.followGraph(of: Query(order: [.natural])))
        try await graphs.element { $0.roots.map(\.text) == ["a"] && $0.missing == ["Tale:1"] }
        try await library.marks.set([Mark(1, "b"), Mark(2, "c")])
        try await graphs.element { $0.roots.map(\.text) == ["b", "c"] && $0.missing.isEmpty }
        if onDisk {
          try await library.marks.set(Mark(2, "c", tale: 1))
          try await library.tales.set(Tale(1, "here"))
          try await graphs.element { $0.all(of: Tale.self).map(\.text) == ["here"] }
          try await library.tales.set(Tale(1, "changed"))
          try await graphs.element { $0.all(of: Tale.self).map(\.text) == ["changed"] }
        }
        try await library.marks.remove(atID: .remote(1))
        try await graphs.element { $0.roots.map(\.text) == ["c"] }
        graphs.cancel()
      }
    }
  }

  @Test func `an ended iteration sends and delivers nothing more`() async throws {
    try await GraphLibrary.with(onDisk: false) { library in
      try await library.guilds.set(Guild(1, "here"))
      var graphs: FollowedRecorder? = FollowedRecorder(library.guilds.followGraph())
      try await graphs?.element { $0.count == 1 }
      graphs = nil
      library.shelf.withLock { $0.guilds = [Guild(2, "server")] }
      let answers = FollowedRecorder(
        library.guilds.followGraph(
          in: .remote(persistenceStrategy: .doNotPersist)))
      try await answers.element { $0.roots == [Guild(2, "server")] }
      answers.cancel()
    }
  }
}
