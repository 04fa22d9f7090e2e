import PandoModels
import PandoStore

/// Walks from roots along relationships, and reads the entities.
struct GraphLoader<Root: Entity> {
  /// Reads an entity of a type; the argument for its manager is `nil` if there is none.
  typealias Read = (any Entity.Type, (any GraphSource)?, ByteString) throws -> PresentEntity

  /// The result of a walk.
  struct Result: Sendable {
    let graph: EntityGraph<Root>
    /// The entities to request.
    let asks: [GraphAsk]
  }

  /// An entity on a walk, with its place on the paths.
  private struct Visit: Hashable {
    let identifier: ByteString
    let place: GraphRules.Place
  }

  /// A way from the root: the way before, and the last relationship.
  private struct Way: Hashable {
    let start: Int
    let name: String
  }

  /// Entities with the same key are requested together.
  private struct AskKey: Hashable {
    let type: ObjectIdentifier
    let origin: Int?
    let isBehind: Bool
  }

  /// The end of a relationship on a walk.
  private struct Arrival {
    let type: any Entity.Type
    let place: GraphRules.Place
    let way: Int
  }

  private let rules: GraphRules
  private let sources: GraphSources
  private let progress: GraphProgress
  private let read: Read
  private var entities: [ByteString: any Entity] = [:]
  private var roots: Set<ByteString> = []
  private var order: [ByteString] = []
  private var absent = OrderedNodes()
  private var awaited = OrderedNodes()
  private var managers: [ObjectIdentifier: (any GraphSource)?] = [:]
  private var asks: [GraphAsk] = []
  private var askIndex: [AskKey: Int] = [:]
  private var ways: [Way] = []
  private var wayIndex: [Way: Int] = [:]

  /// Loads a graph.
  ///
  /// - Parameters:
  ///   - roots: The roots, in order.
  ///   - rules: The relationships to follow.
  ///   - sources: The sources of entities.
  ///   - progress: The requests so far.
  ///   - read: Reads an entity.
  /// - Returns: The graph.
  /// - Throws: The errors of `read`.
  static func load(
    _ roots: [Root], _ rules: GraphRules, _ sources: GraphSources, _ progress: GraphProgress,
    read: Read
  ) throws -> Result {
    try withoutActuallyEscaping(read) { read in
      var loader = GraphLoader(rules, sources, progress, read)
      try loader.walk(from: roots)
      return Result(graph: loader.graph(of: roots), asks: loader.asks)
    }
  }

  private init(
    _ rules: GraphRules, _ sources: GraphSources, _ progress: GraphProgress, _ read: @escaping Read
  ) {
    self.rules = rules
    self.sources = sources
    self.progress = progress
    self.read = read
  }

  private func graph(of roots: [Root]) -> EntityGraph<Root> {
    let awaited = awaited.list.filter { entities[$0] == nil }
    let absent = absent.list.filter { entities[$0] == nil && !self.awaited.contains($0) }
    var graph = EntityGraph(roots: roots, entities: entities, order: order, absent: absent)
    graph.awaited = awaited
    if !progress.failures.isEmpty {
      let lacking = Set(absent.map(\.text))
      graph.failures = progress.failures.compactMap { failure in
        var failure = failure
        failure.identifiers = failure.identifiers.filter { lacking.contains($0) }
        return failure.identifiers.isEmpty ? nil : failure
      }
    }
    return graph
  }

  /// Walks level by level, so the first visit of an entity is the one with the most steps left.
  private mutating func walk(from roots: [Root]) throws {
    var seen: Set<Visit> = []
    var level: [(visit: Visit, way: Int)] = []
    for root in roots {
      let identifier = ByteString(root.id.modelIdentifier)
      if entities.updateValue(root, forKey: identifier) == nil { order.append(identifier) }
      self.roots.insert(identifier)
      let visit = Visit(identifier: identifier, place: rules.start)
      if seen.insert(visit).inserted { level.append((visit, -1)) }
    }
    var depth = 0
    while !level.isEmpty, depth < rules.depthLimit {
      var next: [(visit: Visit, way: Int)] = []
      for (visit, way) in level {
        guard let entity = entities[visit.identifier] else { continue }
        for edge in Self.edges(of: entity) where !edge.identifiers.isEmpty {
          guard let place = rules.follow(edge.name, from: visit.place) else { continue }
          let arrival = Arrival(
            type: edge.target, place: place, way: self.way(Way(start: way, name: edge.name)))
          for identifier in edge.identifiers {
            let visit = Visit(identifier: identifier, place: place)
            guard seen.insert(visit).inserted else { continue }
            if try find(identifier, at: arrival) { next.append((visit, arrival.way)) }
          }
        }
      }
      level = next
      depth += 1
    }
  }

  /// Adds an entity to the graph, or to the requests; returns whether it is in the graph.
  private mutating func find(_ identifier: ByteString, at arrival: Arrival) throws -> Bool {
    if roots.contains(identifier) { return true }
    let number = rules.originNumber(at: arrival.place)
    let manager = manager(of: arrival.type)
    let how = sources.reading(number.map { rules.origin($0) }, manager)
    if let fetcher = rules.fetcher(number), !progress.hasAsked(identifier, fetcher: fetcher) {
      ask(for: identifier, at: arrival, number)
    }
    let isAnswered = progress.answered.contains(identifier)
    if how.asks == .all, !isAnswered { return wait(for: identifier, at: arrival, number) }
    if how.isStrict, progress.lacked.contains(identifier) { return miss(identifier) }
    var entity = entities[identifier] ?? progress.unstored[identifier]
    if entity == nil {
      switch try read(arrival.type, manager, identifier) {
      case .found(let found): entity = found
      case .absent: entity = progress.given[identifier]
      case .unknown:
        guard isAnswered else { return wait(for: identifier, at: arrival, number) }
      }
    }
    guard let entity, how.isGood?(entity) ?? true else {
      if how.asks == .never || isAnswered { return miss(identifier) }
      return wait(for: identifier, at: arrival, number)
    }
    if entities.updateValue(entity, forKey: identifier) == nil { order.append(identifier) }
    if how.asks == .behind, !progress.hasAsked(identifier) {
      ask(for: identifier, at: arrival, number, isBehind: true)
    }
    return true
  }

  private mutating func manager(of type: any Entity.Type) -> (any GraphSource)? {
    if let known = managers[ObjectIdentifier(type)] { return known }
    let manager = sources.source(of: type)
    managers[ObjectIdentifier(type)] = .some(manager)
    return manager
  }

  private mutating func miss(_ identifier: ByteString) -> Bool {
    absent.add(identifier)
    return false
  }

  private mutating func wait(
    for identifier: ByteString, at arrival: Arrival, _ number: Int?
  ) -> Bool {
    if awaited.add(identifier), !progress.hasAsked(identifier) {
      ask(for: identifier, at: arrival, number)
    }
    return false
  }

  private mutating func ask(
    for identifier: ByteString, at arrival: Arrival, _ number: Int?, isBehind: Bool = false
  ) {
    let key = AskKey(type: ObjectIdentifier(arrival.type), origin: number, isBehind: isBehind)
    let index = askIndex[key] ?? asks.count
    if index == asks.count {
      asks.append(GraphAsk(arrival.type, origin: number, isBehind: isBehind))
      askIndex[key] = index
    }
    asks[index].identifiers.append(identifier)
    asks[index].paths.append(path(of: arrival.way))
  }

  private mutating func way(_ way: Way) -> Int {
    if let known = wayIndex[way] { return known }
    ways.append(way)
    wayIndex[way] = ways.count - 1
    return ways.count - 1
  }

  private func path(of way: Int) -> String {
    var names: [String] = []
    var way = way
    while way >= 0 {
      names.append(ways[way].name)
      way = ways[way].start
    }
    return names.reversed().joined(separator: ".")
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

/// Nodes in the order of their insertion, each once.
private struct OrderedNodes {
  private(set) var list: [ByteString] = []
  private var members: Set<ByteString> = []

  func contains(_ node: ByteString) -> Bool { members.contains(node) }

  @discardableResult
  mutating func add(_ node: ByteString) -> Bool {
    guard members.insert(node).inserted else { return false }
    list.append(node)
    return true
  }
}

extension ModelSnapshot {
  /// Reads an entity of a type known at run time only.
  func entity(_ type: any Entity.Type, _ identifier: ByteString) throws -> (any Entity)? {
    try opened(type, identifier)
  }

  private func opened<E: Entity>(_ type: E.Type, _ identifier: ByteString) throws -> E? {
    try ranked(identifier, as: type)?.entity
  }
}
