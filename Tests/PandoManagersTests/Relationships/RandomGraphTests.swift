import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// Random graphs over disk, memory and a server, against a model that follows every path by itself.
@Suite struct RandomGraphTests {
  private typealias Context = ReadContext<Tale>

  /// How an entity is looked for.
  private enum How: CaseIterable {
    case local, remote, remoteOrLocal, localOr, localThen

    func context<E: Entity>(_ strategy: PersistenceStrategy) -> ReadContext<E> {
      switch self {
      case .local: .local
      case .remote: .remote(persistenceStrategy: strategy)
      case .remoteOrLocal: .remoteOrLocal(persistenceStrategy: strategy)
      case .localOr: .localOr(.remote(persistenceStrategy: strategy))
      case .localThen: .localThen(.remote(persistenceStrategy: strategy))
      }
    }
  }

  /// Which nodes there are and where; the links are the same everywhere.
  private struct World {
    var links: [String: [(name: String, targets: [String])]] = [:]
    var here: Set<String> = []
    var server: Set<String> = []
    var refused: Set<String> = []
    var rest = How.local
    var paths: [[String]: How] = [:]
    var depth = 3

    static func type(_ node: String) -> String { String(node.prefix { $0 != ":" }) }

    func serves(_ node: String) -> Bool {
      server.contains(node) && !refused.contains(Self.type(node))
    }
  }

  /// The expected contents of a graph.
  private struct Expected {
    var texts: [String: String] = [:]
    var missing: Set<String> = []
    var asked: Set<String> = []
  }

  private static func expected(_ world: World, _ roots: [String]) -> Expected {
    var asked: Set<String> = []
    while true {
      var expected = Expected()
      let before = asked
      func has(_ node: String) -> Bool {
        world.here.contains(node) || asked.contains(node) && world.serves(node)
      }
      func walk(_ node: String, _ path: [String]) {
        let isNew = asked.contains(node) && world.serves(node)
        expected.texts[node] = isNew ? "server" : "here"
        if path.count == world.depth { return }
        for (name, targets) in world.links[node] ?? [] {
          let next = path + [name]
          for target in targets {
            if roots.contains(target) {
              walk(target, next)
              continue
            }
            let type = World.type(target)
            let how = world.paths[next] ?? (type == "Mark" ? .local : world.rest)
            let isFound: Bool
            switch how {
            case .local: isFound = has(target)
            case .remote:
              asked.insert(target)
              isFound = world.serves(target)
            case .remoteOrLocal:
              asked.insert(target)
              isFound = has(target)
            case .localOr, .localThen:
              if !has(target) { asked.insert(target) }
              isFound = has(target)
            }
            if isFound { walk(target, next) } else { expected.missing.insert(target) }
          }
        }
      }
      for root in roots { walk(root, []) }
      if asked == before {
        expected.missing.subtract(expected.texts.keys)
        expected.asked = asked
        return expected
      }
    }
  }

  private static func world(_ random: inout SeededGenerator, isStored: Bool) -> World {
    var world = World()
    let all = 1...5
    func some(_ type: String, _ maximum: Int) -> [String] {
      (0..<Int.random(in: 0...maximum, using: &random)).map { _ in
        "\(type):\(Int.random(in: all, using: &random))"
      }.uniqueNodes
    }
    for number in all {
      world.links["Tale:\(number)"] = [
        ("authors", some("Bard", 3)), ("tags", some("Mark", 2)), ("sequel", some("Tale", 1)),
      ]
      world.links["Bard:\(number)"] = [("guild", some("Guild", 1)), ("favorite", some("Tale", 1))]
      world.links["Guild:\(number)"] = [("chief", some("Bard", 1))]
      world.links["Mark:\(number)"] = [("tale", some("Tale", 1))]
    }
    for type in ["Tale", "Bard", "Guild"] where Int.random(in: 0..<6, using: &random) == 0 {
      world.refused.insert(type)
    }
    for node in world.links.keys.sorted() {
      let isServed = World.type(node) != "Mark" && Int.random(in: 0..<4, using: &random) > 0
      if isServed { world.server.insert(node) }
      // The answer "there is none" to a question about one removes it here, if answers are stored.
      let mayBeHere = isServed || !isStored || World.type(node) == "Mark"
      if mayBeHere, Int.random(in: 0..<5, using: &random) < 3 { world.here.insert(node) }
    }
    world.here.insert("Tale:1")
    world.server.insert("Tale:1")
    world.depth = Int.random(in: 1...4, using: &random)
    return world
  }

  private static func put(_ world: World, into library: GraphLibrary) async throws {
    func numbers(_ node: String, _ name: String) -> [Int] {
      (world.links[node]?.first { $0.name == name }?.targets ?? []).compactMap {
        Int($0.drop { $0 != ":" }.dropFirst())
      }
    }
    func made<E>(_ nodes: Set<String>, _ type: String, _ make: (Int, String) -> E) -> [E] {
      nodes.filter { World.type($0) == type }.sorted()
        .compactMap { node in Int(node.dropFirst(type.count + 1)).map { make($0, node) } }
    }
    func tale(_ text: String) -> (Int, String) -> Tale {
      {
        Tale(
          $0, text, authors: numbers($1, "authors"), tags: numbers($1, "tags"),
          sequel: numbers($1, "sequel").first)
      }
    }
    func bard(_ text: String) -> (Int, String) -> Bard {
      { Bard($0, text, guild: numbers($1, "guild").first, favorite: numbers($1, "favorite").first) }
    }
    func guild(_ text: String) -> (Int, String) -> Guild {
      { Guild($0, text, chief: numbers($1, "chief").first) }
    }
    let tales = made(world.server, "Tale", tale("server"))
    let bards = made(world.server, "Bard", bard("server"))
    let guilds = made(world.server, "Guild", guild("server"))
    library.shelf.withLock { shelf in
      (shelf.tales, shelf.bards, shelf.guilds) = (tales, bards, guilds)
      shelf.refused = Set(world.refused.map { "/" + $0.lowercased() + "s" })
    }
    try await library.tales.set(made(world.here, "Tale", tale("here")))
    try await library.bards.set(made(world.here, "Bard", bard("here")))
    try await library.guilds.set(made(world.here, "Guild", guild("here")))
    try await library.marks.set(
      made(world.here, "Mark") { Mark($0, "here", tale: numbers($1, "tale").first) })
  }

  private static func shape(
    _ world: inout World, _ strategy: PersistenceStrategy, _ hows: [How],
    _ random: inout SeededGenerator
  ) -> GraphShape<Tale> {
    func some() -> How? {
      Bool.random(using: &random) ? hows.randomElement(using: &random) : nil
    }
    world.rest = hows.randomElement(using: &random) ?? .local
    var shape = GraphShape<Tale>.all.limited(toDepth: world.depth).toleratingFailures
      .reading(in: world.rest.context(strategy))
    if let how = some() {
      world.paths[["authors"]] = how
      shape = shape.reading(\.authors, in: how.context(strategy))
    }
    if let how = some() {
      world.paths[["sequel", "authors"]] = how
      shape = shape.reading(\.sequel, \.authors, in: how.context(strategy))
    }
    if let how = some() {
      world.paths[["authors", "guild", "chief"]] = how
      shape = shape.reading(\.authors, \.guild, \.chief, in: how.context(strategy))
    }
    return shape
  }

  private static func texts(_ graph: EntityGraph<Tale>) -> [String: String] {
    var texts: [String: String] = [:]
    for entity in graph.all(of: Tale.self) { texts[entity.id.modelIdentifier] = entity.text }
    for entity in graph.all(of: Bard.self) { texts[entity.id.modelIdentifier] = entity.text }
    for entity in graph.all(of: Guild.self) { texts[entity.id.modelIdentifier] = entity.text }
    for entity in graph.all(of: Mark.self) { texts[entity.id.modelIdentifier] = entity.text }
    return texts
  }

  /// The identifiers that the server was asked for.
  private static func asked(_ library: GraphLibrary) -> [String] {
    library.client.requests.flatMap { request -> [String] in
      let parts = request.path.text.split(separator: "/").map(String.init)
      let type = parts[0].prefix(1).uppercased() + parts[0].dropFirst().dropLast()
      let ids = request.query.first?.value.split(separator: ",").map(String.init)
      return (ids ?? Array(parts.dropFirst())).map { "\(type):\($0)" }
    }
  }

  @Test(arguments: seeds(60))
  func `a graph has what every path leads to, and asks for each entity once`(
    seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed: seed)
    let strategy: PersistenceStrategy = Bool.random(using: &random) ? .persist : .doNotPersist
    var world = Self.world(&random, isStored: strategy == .persist)
    let isFollowed = Bool.random(using: &random)
    let hows = How.allCases.filter { !isFollowed || $0 != .localThen }
    let shape = Self.shape(&world, strategy, hows, &random)
    let expected = Self.expected(world, ["Tale:1"])
    try await GraphLibrary.with { library in
      try await Self.put(world, into: library)
      let first = Query<Tale>(ids: [.remote(1)])
      let graph: EntityGraph<Tale>
      if isFollowed {
        // Answers come when all have been asked for that can be.
        library.client.hold()
        let graphs = FollowedRecorder(library.tales.followGraph(of: first, shape: shape))
        _ = try await graphs.element { _ in true }
        library.client.release()
        graph = try await graphs.element { $0.pending.isEmpty }
      } else {
        graph = try await library.tales.graph(of: first, shape: shape)
        for manager in [library.bards.drain, library.tales.drain, library.guilds.drain] {
          await manager()
        }
      }
      #expect(Self.texts(graph) == expected.texts)
      #expect(Set(graph.missing) == expected.missing)
      let failed = Set(graph.failures.flatMap(\.identifiers))
      #expect(
        failed
          == expected.missing.filter {
            expected.asked.contains($0) && world.refused.contains(World.type($0))
          })
      let asked = Self.asked(library)
      #expect(asked.count == Set(asked).count, "each once: \(library.requests)")
      #expect(expected.asked.isSubset(of: asked))
      if !hows.contains(.localThen) { #expect(Set(asked) == expected.asked) }
    }
  }
}

extension [String] {
  fileprivate var uniqueNodes: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
