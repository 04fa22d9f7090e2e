import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// A followed graph: each entity in it is followed, and each identifier that it misses.
final class LiveGraph<Root: Entity>: LiveView {
  /// Reads the roots from memory.
  typealias ReadRoots = @Sendable (AcceptedQuery<Root>) throws -> [RankedEntity<Root>]

  let followed: AcceptedQuery<Root>
  let rules: GraphRules
  let sources: GraphSources
  let state = FollowedState<LoadedGraph<Root>>()
  let number = FollowedNumber.next()
  let endings = Endings()
  let hasOtherTypes = true
  private let memory: ReadRoots?
  private let progress = Locked(GraphProgress())
  /// The roots, if an answer has given them.
  private let given = Locked<[Root]?>(nil)

  /// Makes a graph that is not followed yet.
  ///
  /// - Parameters:
  ///   - followed: The query for the roots.
  ///   - rules: The relationships to follow.
  ///   - sources: The sources of entities.
  ///   - memory: Reads the roots, if they are in memory.
  init(
    _ followed: AcceptedQuery<Root>, _ rules: GraphRules, _ sources: GraphSources,
    memory: ReadRoots?
  ) {
    self.followed = followed
    self.rules = rules
    self.sources = sources
    self.memory = memory
  }

  /// Takes the roots from an answer; the related entities are followed.
  func show(_ answer: QueryResult<Root>) -> Bool {
    given.withLock { $0 = answer.entities }
    return false
  }

  func load(
    _ snapshot: ModelSnapshot, _ type: TypeViews<Root>
  ) throws -> LoadedGraph<Root> {
    let loaded = try load(snapshot)
    type.note(loaded.roots.entities, snapshot)
    return loaded
  }

  private func load(_ snapshot: ModelSnapshot) throws -> LoadedGraph<Root> {
    try progress.withLock { try $0.touch(nil, in: snapshot) }
    let roots = try roots() ?? QueryWindow(followed, filledWith: try followed.read(snapshot))
    return try load(roots, nil, [], snapshot)
  }

  /// Loads the graph without a store on disk.
  func loadFromMemory() throws -> LoadedGraph<Root> {
    let roots = try roots() ?? QueryWindow(followed, filledWith: [])
    let result = try GraphLoader.load(roots.shown, rules, sources, progress.withLock { $0 }) {
      _, manager, identifier in
      try manager?.presentEntity(identifier.text) ?? .absent
    }
    return LoadedGraph(roots, result)
  }

  /// Loads the present graph, on a reader thread if it is on disk.
  func load() async throws -> LoadedGraph<Root> {
    guard let store = sources.store else { return try loadFromMemory() }
    return try await store.read { [self] in try load($0) }
  }

  /// The roots from an answer or from memory; `nil` if they are on disk.
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
    return QueryWindow(AcceptedQuery(query), filledWith: entities)
  }

  private var rootsAreOnDisk: Bool { memory == nil && given.withLock { $0 == nil } }

  /// Loads the graph from given roots.
  ///
  /// - Parameters:
  ///   - roots: The roots.
  ///   - previous: The previous graph, whose untouched entities are used again.
  ///   - touched: The touched nodes.
  ///   - snapshot: The snapshot of all other entities.
  /// - Returns: The graph.
  /// - Throws: `ModelError` if an entity can't be decoded; `StoreError`.
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

  func nodes(of loaded: LoadedGraph<Root>) -> Set<ByteString> { loaded.dependencies }

  func depends(_ loaded: LoadedGraph<Root>, on node: ByteString) -> Bool {
    loaded.nodes.contains(node) || loaded.roots.contains(node)
  }

  func plan(
    _ nodes: [ByteString], _ touched: TouchedNodes, _ store: ModelStore,
    _ type: @autoclosure () -> TypeViews<Root>
  ) -> ViewPlan<LoadedGraph<Root>> { .read }

  func stage(
    _ nodes: [ByteString]?, _ run: inout FollowingRun, _ snapshot: ModelSnapshot,
    _ type: TypeViews<Root>
  ) throws -> LoadedGraph<Root>? {
    run.tally.evaluations += 1
    let staged = state.staged(before: run.number, isKnown: nodes != nil)
    guard let staged else { return nil }
    let loaded: LoadedGraph<Root>?
    if let nodes {
      try progress.withLock { try $0.touch(nodes, in: snapshot) }
      loaded = try load(staged, nodes, &run, snapshot, type)
    } else {
      if run.isReplaced { progress.withLock { $0.forgetCommit() } }
      loaded = try load(snapshot)
    }
    guard let loaded else { return nil }
    state.stage(loaded, at: run.number)
    return loaded
  }

  /// Loads the touched part again.
  ///
  /// - Returns: `nil` if no node of the graph was touched.
  private func load(
    _ staged: LoadedGraph<Root>, _ nodes: [ByteString], _ run: inout FollowingRun,
    _ snapshot: ModelSnapshot, _ type: TypeViews<Root>
  ) throws -> LoadedGraph<Root>? {
    let touched = Set(nodes)
    var roots = staged.roots
    var outcome = QueryWindow<Root>.Outcome.same
    if rootsAreOnDisk {
      var changes: [EntityChange<Root>] = []
      for node in nodes where EntityIdentifier<Root>(modelIdentifier: node.text) != nil {
        let root = try run.reads.entity(node, as: Root.self, in: snapshot).get()
        changes.append(EntityChange(node, root))
      }
      outcome = roots.apply(changes)
    }
    let concerned = touched.intersection(staged.nodes)
    if outcome == .same, concerned.isEmpty { return nil }
    // The entity around a touched inner node is unknown, so the whole graph is read again.
    if !concerned.isDisjoint(with: staged.innerNodes) { return try load(snapshot) }
    if outcome == .exhausted {
      roots = QueryWindow(followed, filledWith: try followed.read(snapshot))
      type.note(roots.entities, snapshot)
    }
    return try load(roots, staged.graph, touched, snapshot)
  }
}

extension LiveGraph {
  /// Marks entities as requested, and returns the new ones.
  private func claim(_ asks: [GraphAsk]) -> [GraphAsk] {
    progress.withLock { progress in
      asks.compactMap { progress.claim($0, fetcher: rules.fetcher($0.origin)) }
    }
  }

  private func take(_ answer: GraphAnswer, to ask: GraphAsk) {
    progress.withLock { $0.take(answer, to: ask, fetcher: rules.fetcher(ask.origin)) }
  }

  /// Sends requests in parallel.
  ///
  /// - Parameter asks: The entities to request.
  /// - Throws: The errors of sources, unless the graph tolerates them.
  func fetch(_ asks: [GraphAsk]) async throws {
    try await withThrowingTaskGroup { group in
      for ask in claim(asks) {
        group.addTask { self.take(try await self.sources.answer(to: ask, self.rules), to: ask) }
      }
      try await group.waitForAll()
    }
  }

  /// Sends requests in the background.
  func refresh(_ asks: [GraphAsk]) {
    for ask in claim(asks) { sources.refresh(ask, rules) }
  }

  /// Sends requests in parallel, as long as the graph is followed.
  ///
  /// - Parameters:
  ///   - asks: The entities to request.
  ///   - then: Called after each answer.
  ///   - failed: Receives the errors of sources, unless the graph tolerates them.
  func begin(
    _ asks: [GraphAsk], then: @escaping @Sendable (LiveGraph) -> Void,
    failed: @escaping @Sendable (LiveGraph, any Error) -> Void
  ) {
    for ask in claim(asks) {
      // The task does not hold the graph; the end of following cancels it.
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

  /// The requests to await before the first graph is shown.
  func awaited(of loaded: LoadedGraph<Root>) -> [GraphAsk] {
    guard observed.version == 1 else { return [] }
    return loaded.result.asks.filter { rules.fetcher($0.origin) != nil }
  }

  func begin(in hub: StoreHub) {
    watch { [weak hub] in hub?.reload($0, if: $1) }
  }

  /// Sends the requests that come before the first graph.
  func delays(_ loaded: LoadedGraph<Root>, in hub: StoreHub) -> Bool {
    let awaited = awaited(of: loaded)
    begin(
      awaited, then: { [weak hub] in hub?.load($0) },
      failed: { [weak hub] in hub?.fail($0, $1) })
    return !awaited.isEmpty
  }

  /// Sends the requests of the graph, which is shown meanwhile.
  func didShow(_ loaded: LoadedGraph<Root>, in hub: StoreHub) {
    begin(
      loaded.result.asks, then: { [weak hub] in hub?.reload($0) },
      failed: { [weak hub] in hub?.fail($0, $1) })
  }

  /// Calls `reload` for each change outside its store that may affect the graph, on the pipeline of the change.
  ///
  /// - Parameter reload: Receives the graph, and whether the change affects it. The pipeline of the graph has to ask
  ///   that: a graph that is being staged may contain entities that it does not show yet.
  func watch(
    _ reload: @escaping @Sendable (LiveGraph, @escaping @Sendable () -> Bool) -> Void
  ) {
    sources.watch(until: endings) { [weak self] change, isRoot in
      guard let self else { return }
      touch(change)
      reload(self) { [weak self] in
        guard case .nodes(let touched) = change, !isRoot, let known = self?.state.current
        else { return true }
        return !known.nodes.isDisjoint(with: touched)
      }
    }
  }

  private func touch(_ change: WatchedChange) {
    switch change {
    case .nodes(let touched): progress.withLock { $0.touch(touched) }
    case .unknown(let change):
      let asked = progress.withLock { $0.undecided }
      // If the store can't be read, no earlier answer hides an entity.
      let touched = (try? change.changed(among: asked)) ?? asked
      progress.withLock { $0.touch(touched) }
    }
  }
}
