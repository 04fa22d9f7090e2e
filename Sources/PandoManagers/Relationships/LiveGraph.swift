import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// One graph that somebody follows.
///
/// Every entity in it is followed, and so is every identifier that it misses.
final class LiveGraph<Root: Entity>: LiveResult {
  /// Reads the roots from memory.
  typealias ReadRoots = @Sendable (FollowedQuery<Root>) throws -> [RankedEntity<Root>]

  let followed: FollowedQuery<Root>
  let rules: GraphRules
  let sources: GraphSources
  let state = FollowedState<LoadedGraph<Root>>()
  let number = FollowedNumber.next()
  let endings = Endings()
  private let memory: ReadRoots?
  private let progress = Locked(GraphProgress())
  /// The roots, if somebody has given them.
  private let given = Locked<[Root]?>(nil)

  /// Makes a graph that is not followed yet.
  ///
  /// - Parameters:
  ///   - followed: The query for the roots.
  ///   - rules: Where it reaches.
  ///   - sources: Where entities come from.
  ///   - memory: Reads the roots, if they are in memory.
  init(
    _ followed: FollowedQuery<Root>, _ rules: GraphRules, _ sources: GraphSources,
    memory: ReadRoots?
  ) {
    self.followed = followed
    self.rules = rules
    self.sources = sources
    self.memory = memory
  }

  /// Takes the roots from an answer; the rest is followed.
  func show(_ answer: QueryResult<Root>) -> Bool {
    given.withLock { $0 = answer.entities }
    return false
  }

  /// Loads all of it at one moment.
  ///
  /// - Returns: The graph.
  /// - Throws: `ModelError` when an entity can't be decoded; `StoreError`.
  func load(_ snapshot: ModelSnapshot) throws -> LoadedGraph<Root> {
    let roots = try roots() ?? QueryWindow(followed, filledWith: try followed.read(snapshot))
    return try load(roots, nil, [], snapshot)
  }

  /// Loads all of it, where nothing is on disk.
  func loadFromMemory() throws -> LoadedGraph<Root> {
    let roots = try roots() ?? QueryWindow(followed, filledWith: [])
    let result = try GraphLoader.load(roots.shown, rules, sources, progress.withLock { $0 }) {
      _, manager, identifier in
      try manager?.presentEntity(identifier.text) ?? .absent
    }
    return LoadedGraph(roots, result)
  }

  /// Loads all of it as it is now.
  func load() throws -> LoadedGraph<Root> {
    guard let store = sources.store else { return try loadFromMemory() }
    return try store.read { try load($0) }
  }

  /// The roots that were given or are in memory; `nil` if they are on disk.
  private func roots() throws -> QueryWindow<Root>? {
    guard let given = given.withLock({ $0 }) else {
      return try memory.map { QueryWindow(followed, filledWith: try $0(followed)) }
    }
    var query = followed.query
    query.offset = 0
    query.limit = nil
    let entities = given.enumerated().map { index, root in
      RankedEntity(root, rank: UInt64(index))
    }
    return QueryWindow(FollowedQuery(query), filledWith: entities)
  }

  private var rootsAreOnDisk: Bool { memory == nil && given.withLock { $0 == nil } }

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
    let progress = progress.withLock { $0 }
    let result = try GraphLoader.load(roots.shown, rules, sources, progress) {
      type, manager, identifier in
      if let known = previous?.entities[identifier], !touched.contains(identifier) {
        return .found(known)
      }
      if let manager, manager.followedStore !== sources.store {
        return try manager.presentEntity(identifier.text)
      }
      return try snapshot.entity(type, identifier).map { .found($0) } ?? .absent
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
    if let touched { progress.withLock { $0.touch(touched) } }
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
    var roots = staged.roots
    var outcome = QueryWindow<Root>.Outcome.same
    if rootsAreOnDisk {
      outcome = roots.apply(
        try touched.ordered().compactMap { identifier -> EntityChange<Root>? in
          guard EntityIdentifier<Root>(modelIdentifier: identifier.text) != nil else { return nil }
          return EntityChange(identifier, try snapshot.ranked(identifier, as: Root.self))
        })
    }
    let concerned = touched.intersection(staged.nodes)
    if outcome == .same, concerned.isEmpty { return nil }
    // What holds a node inside it is not known here: all of it is read again.
    if !concerned.isDisjoint(with: staged.innerNodes) { return try load(snapshot) }
    if outcome == .exhausted {
      roots = QueryWindow(followed, filledWith: try followed.read(snapshot))
    }
    return try load(roots, staged.graph, touched, snapshot)
  }
}

extension LiveGraph {
  /// Takes what nobody asks for yet.
  private func claim(_ asks: [GraphAsk]) -> [GraphAsk] {
    progress.withLock { progress in
      asks.compactMap { progress.claim($0, fetcher: rules.fetcher($0.origin)) }
    }
  }

  private func take(_ answer: GraphAnswer, to ask: GraphAsk) {
    progress.withLock { $0.take(answer, to: ask, fetcher: rules.fetcher(ask.origin)) }
  }

  /// Asks for all of it, side by side.
  ///
  /// - Parameter asks: What has to be asked for.
  /// - Throws: What somebody throws who is asked, unless the graph tolerates that.
  func fetch(_ asks: [GraphAsk]) async throws {
    try await withThrowingTaskGroup { group in
      for ask in claim(asks) {
        group.addTask { self.take(try await self.sources.answer(to: ask, self.rules), to: ask) }
      }
      try await group.waitForAll()
    }
  }

  /// Asks a server for it, behind the caller's back.
  func refresh(_ asks: [GraphAsk]) {
    for ask in claim(asks) { sources.refresh(ask, rules) }
  }

  /// Asks for all of it, side by side, while somebody follows the graph.
  ///
  /// - Parameters:
  ///   - asks: What has to be asked for.
  ///   - then: Called after each answer.
  ///   - failed: Takes what somebody throws who is asked, unless the graph tolerates that.
  func begin(
    _ asks: [GraphAsk], then: @escaping @Sendable (LiveGraph) -> Void,
    failed: @escaping @Sendable (LiveGraph, any Error) -> Void
  ) {
    for ask in claim(asks) {
      // Nothing is kept alive by waiting: who ends to follow cancels it.
      let task = Task { [weak self, sources, rules] in
        do {
          let answer = try await sources.answer(to: ask, rules)
          guard let self, !Task.isCancelled else { return }
          take(answer, to: ask)
          then(self)
        } catch {
          if let self { failed(self, error) }
        }
      }
      endings.add { task.cancel() }
    }
  }

  /// What has to be waited for before anything is shown.
  func awaited(of loaded: LoadedGraph<Root>) -> [GraphAsk] {
    guard observed.version == 1 else { return [] }
    return loaded.result.asks.filter { rules.fetcher($0.origin) != nil }
  }

  /// Tells of changes in memory that concern it; on the pipeline.
  func watch(_ reload: @escaping @Sendable (LiveGraph) -> Void) {
    sources.watch(until: endings) { [weak self] touched, isRoot in
      guard let self else { return }
      progress.withLock { $0.touch(touched) }
      if let shown = observed.contents, !isRoot, shown.nodes.isDisjoint(with: touched) { return }
      reload(self)
    }
  }
}
