import PandoModels
import PandoStore

/// Walks from roots along relationships, and reads what it comes to.
struct GraphLoader<Root: Entity> {
  /// What has been asked of the sources of a graph, and what they had.
  struct Fetched: Sendable {
    /// What has been asked for, by the number of the source.
    var asked: [Int: Set<ByteString>] = [:]
    /// What was answered.
    var entities: [ByteString: any Entity] = [:]
  }

  /// What a walk has come to.
  struct Result: Sendable {
    let graph: EntityGraph<Root>
    /// What sources have to be asked for yet, by their numbers.
    let unasked: [Int: [ByteString]]
  }

  /// An entity that a walk leads through, and where it is on its paths.
  private struct Visit: Hashable {
    let identifier: ByteString
    let place: GraphRules.Place
  }

  private let rules: GraphRules
  private let fetched: Fetched
  private let read: (any Entity.Type, ByteString) throws -> (any Entity)?
  private var entities: [ByteString: any Entity] = [:]
  private var order: [ByteString] = []
  private var absent: [ByteString] = []
  private var isAbsent: Set<ByteString> = []
  private var unasked: [Int: [ByteString]] = [:]

  /// Loads a graph.
  ///
  /// - Parameters:
  ///   - roots: The entities at the root, in order.
  ///   - rules: Where the walk goes.
  ///   - fetched: What sources have been asked for.
  ///   - read: Returns a stored entity of a type by the identifier of its node.
  /// - Returns: The graph.
  /// - Throws: What `read` throws: an entity that can't be read is no missing one.
  static func load(
    _ roots: [Root], _ rules: GraphRules, _ fetched: Fetched,
    read: (any Entity.Type, ByteString) throws -> (any Entity)?
  ) throws -> Result {
    try withoutActuallyEscaping(read) { read in
      var loader = GraphLoader(rules: rules, fetched: fetched, read: read)
      try loader.walk(from: roots)
      let graph = EntityGraph(
        roots: roots, entities: loader.entities, order: loader.order, absent: loader.absent)
      return Result(graph: graph, unasked: loader.unasked)
    }
  }

  private init(
    rules: GraphRules, fetched: Fetched,
    read: @escaping (any Entity.Type, ByteString) throws -> (any Entity)?
  ) {
    self.rules = rules
    self.fetched = fetched
    self.read = read
  }

  /// Level by level: the first visit of an entity is the one with most steps left.
  private mutating func walk(from roots: [Root]) throws {
    var seen: Set<Visit> = []
    var level: [Visit] = []
    for root in roots {
      let identifier = ByteString(root.id.modelIdentifier)
      if entities.updateValue(root, forKey: identifier) == nil { order.append(identifier) }
      let visit = Visit(identifier: identifier, place: rules.start)
      if seen.insert(visit).inserted { level.append(visit) }
    }
    var depth = 0
    while !level.isEmpty, depth < rules.depthLimit {
      var next: [Visit] = []
      for visit in level {
        guard let entity = entities[visit.identifier] else { continue }
        for edge in Self.edges(of: entity) {
          guard let place = rules.follow(edge.name, from: visit.place) else { continue }
          for identifier in edge.identifiers {
            try load(identifier, as: edge.target, at: place)
            let visit = Visit(identifier: identifier, place: place)
            if seen.insert(visit).inserted { next.append(visit) }
          }
        }
      }
      level = next
      depth += 1
    }
  }

  private mutating func load(
    _ identifier: ByteString, as type: any Entity.Type, at place: GraphRules.Place
  ) throws {
    if let number = rules.fetcherNumber(at: place),
      fetched.asked[number]?.contains(identifier) != true,
      unasked[number]?.contains(identifier) != true
    {
      unasked[number, default: []].append(identifier)
    }
    guard entities[identifier] == nil, !isAbsent.contains(identifier) else { return }
    if let entity = try read(type, identifier) ?? fetched.entities[identifier] {
      entities[identifier] = entity
      order.append(identifier)
    } else {
      isAbsent.insert(identifier)
      absent.append(identifier)
    }
  }

  private struct Edge {
    let name: String
    let target: any Entity.Type
    let identifiers: [ByteString]
  }

  private static func edges<E: Entity>(of entity: E) -> [Edge] {
    E.relationships.map { relationship in
      Edge(
        name: relationship.name, target: relationship.target,
        identifiers: relationship.modelIdentifiers(entity).map { ByteString($0) })
    }
  }
}

extension ModelSnapshot {
  /// Reads an entity of a type that is known at run time only.
  func entity(_ type: any Entity.Type, _ identifier: ByteString) throws -> (any Entity)? {
    try opened(type, identifier)
  }

  private func opened<E: Entity>(_ type: E.Type, _ identifier: ByteString) throws -> E? {
    try ranked(identifier, as: type)?.entity
  }
}
