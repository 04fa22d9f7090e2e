import PandoProviders
import PandoSystem
import PandoModels
import PandoStore

/// One graph that somebody follows.
///
/// Every entity in it is followed, and so is every identifier that it misses.
final class LiveGraph<Root: Entity>: LiveResult {
  let followed: FollowedQuery<Root>
  let rules: GraphRules
  let state = FollowedState<LoadedGraph<Root>>()
  let number = FollowedNumber.next()
  let endings = Endings()
  private let fetched = Locked(GraphLoader<Root>.Fetched())

  /// Makes a graph that is not followed yet.
  init(_ followed: FollowedQuery<Root>, _ rules: GraphRules) {
    self.followed = followed
    self.rules = rules
  }

  func show(_ answer: QueryResult<Root>) -> Bool { false }

  /// Loads all of it at one moment.
  func load(_ snapshot: ModelSnapshot) throws -> LoadedGraph<Root> {
    let entities = try followed.read(snapshot)
    return try load(QueryWindow(followed, filledWith: entities), nil, [], snapshot)
  }

  /// Loads it from given roots.
  ///
  /// - Parameters:
  ///   - snapshot: Where the rest is.
  ///   - roots: The roots; `nil` for those that the store has.
  /// - Returns: The graph.
  /// - Throws: `ModelError` when an entity can't be decoded; `StoreError`.
  func load(_ snapshot: ModelSnapshot, from roots: [Root]?) throws -> LoadedGraph<Root> {
    guard let roots else { return try load(snapshot) }
    var query = followed.query
    query.offset = 0
    query.limit = nil
    let entities = roots.enumerated().map { index, root in
      RankedEntity(root, rank: UInt64(index))
    }
    return try load(QueryWindow(FollowedQuery(query), filledWith: entities), nil, [], snapshot)
  }

  /// Loads it from known roots.
  ///
  /// - Parameters:
  ///   - roots: The roots.
  ///   - previous: What is known already.
  ///   - touched: What of that may be known wrongly.
  ///   - snapshot: Where the rest is.
  /// - Returns: The graph.
  /// - Throws: `ModelError` when an entity can't be decoded; `StoreError`.
  private func load(
    _ roots: QueryWindow<Root>, _ previous: EntityGraph<Root>?, _ touched: Set<ByteString>,
    _ snapshot: ModelSnapshot
  ) throws -> LoadedGraph<Root> {
    let fetched = fetched.withLock { $0 }
    let result = try GraphLoader.load(roots.shown, rules, fetched) { type, identifier in
      if let known = previous?.entities[identifier], !touched.contains(identifier) { return known }
      return try snapshot.entity(type, identifier)
    }
    return LoadedGraph(roots, result)
  }

  /// Works out what the commit under way leaves.
  ///
  /// - Parameters:
  ///   - touched: The nodes that it has touched; `nil` if they are not known.
  ///   - number: The number of the commit.
  ///   - snapshot: The store after it.
  /// - Returns: What to show when it is committed; `nil` if it is what is shown already.
  /// - Throws: `ModelError` when an entity can't be decoded; `StoreError`.
  func stage(
    _ touched: Set<ByteString>?, at number: UInt64, _ snapshot: ModelSnapshot
  ) throws -> LoadedGraph<Root>? {
    guard let staged = state.staged(before: number, isKnown: touched != nil) else { return nil }
    guard let loaded = try load(staged, touched, snapshot) else { return nil }
    state.stage(loaded, at: number)
    return loaded
  }

  /// Loads again what a commit has touched.
  ///
  /// - Returns: `nil` if it touches nothing of the graph.
  private func load(
    _ staged: LoadedGraph<Root>, _ touched: Set<ByteString>?, _ snapshot: ModelSnapshot
  ) throws -> LoadedGraph<Root>? {
    guard let touched else { return try load(snapshot) }
    let changes = try touched.ordered().compactMap { identifier -> EntityChange<Root>? in
      guard EntityIdentifier<Root>(modelIdentifier: identifier.text) != nil else { return nil }
      return EntityChange(identifier, try snapshot.ranked(identifier, as: Root.self))
    }
    var roots = staged.roots
    let outcome = roots.apply(changes)
    let concerned = touched.intersection(staged.nodes)
    if outcome == .same, concerned.isEmpty { return nil }
    // What holds a node inside it is not known here: all of it is read again.
    if !concerned.isDisjoint(with: staged.innerNodes) { return try load(snapshot) }
    if outcome == .exhausted {
      roots = QueryWindow(followed, filledWith: try followed.read(snapshot))
    }
    return try load(roots, staged.graph, touched, snapshot)
  }

  /// Asks the sources for what has come up.
  ///
  /// - Parameter unasked: What they have to be asked for, by their numbers.
  /// - Throws: What a source throws.
  func fetch(_ unasked: [Int: [ByteString]]) async throws {
    for (number, identifiers) in unasked.ordered(by: { $0.key < $1.key }) {
      let new = fetched.withLock { fetched in
        let asked = fetched.asked[number] ?? []
        let new = identifiers.filter { !asked.contains($0) }
        fetched.asked[number] = asked.union(new)
        return new
      }
      if new.isEmpty { continue }
      let found = try await rules.fetcher(number).fetch(new.map(\.text))
      fetched.withLock { fetched in
        for entity in found {
          guard let identifier = entity.modelIdentifier else { continue }
          fetched.entities[ByteString(identifier)] = entity
        }
      }
    }
  }
}
