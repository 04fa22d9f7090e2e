import PandoModels
public import PandoProviders
import PandoStore
import PandoSystem

/// Reading and following entities together with related ones.
extension CoreManager {
  /// Returns entities with their related entities.
  ///
  /// ```swift
  /// let graph = try await books.graph(of: recent, in: .localOr(.remote()))
  /// ```
  /// The context names the stores of the roots and of the related entities. `.localOr(.remote())` requests
  /// what the local stores lack, `.remote()` requests everything. Each round requests one level, each entity
  /// once, in one request for each type if the API has one for several identifiers. Answers are stored as the
  /// context says. The shape can name other stores for a path (``GraphShape/reading(_:in:)``). Entities of a
  /// type without a server are read locally, those of a type that the container lacks from the store on disk.
  ///
  /// All related entities on disk are of one snapshot, and so are the roots in the context `.local`. In another context
  /// the roots are those of the search, which may be older. Entities in memory are read at the time of the snapshot.
  ///
  /// - Parameters:
  ///   - query: The roots.
  ///   - shape: The relationships to follow, the depth, and the stores.
  ///   - context: The stores to read. Its contract applies to the roots, its access validator to all.
  /// - Returns: The graph.
  /// - Throws: The errors of ``search(withQuery:in:)``; ``ManagerError`` `unknownRelationship`; the errors of
  ///   servers and of sources of the shape, unless the shape tolerates failures. An entity that no store has
  ///   is no error: it is in ``EntityGraph/missing``.
  /// - Complexity: As ``search(withQuery:in:)`` for the roots; for roots in memory O(*n* log *n*) for all *n*
  ///   of their type, whatever the query. Then O(log *n*) for each node of an entity on disk and O(1) for an
  ///   entity in memory, and all of it again after each round of requests.
  public func graph(
    of query: Query<E> = .all, shape: GraphShape<E> = .all, in context: ReadContext<E> = .local
  ) async throws -> EntityGraph<E> {
    let access = try AccessCheck(context.accessValidator, E.self)
    let live = try liveGraph(AcceptedQuery(query, contract: context.contract), shape, context)
    try query.validate()
    if case .local = context.source, rootsCanBeRead {
    } else {
      _ = live.show(try await search(withQuery: query, in: context))
    }
    try await stack.recoverable?.prepare()
    while true {
      let loaded = try await live.load()
      let asks = loaded.result.asks.filter { !$0.isBehind }
      if asks.isEmpty {
        try access.confirm()
        live.refresh(loaded.result.asks)
        return loaded.graph
      }
      try await live.fetch(asks)
    }
  }

  /// Follows entities with their related entities.
  ///
  /// Each change of an entity in the graph, or of one that it misses, gives a new graph. The first graph
  /// shows the local entities. Those that a server is asked for are in ``EntityGraph/pending``, and each answer
  /// gives a new graph.
  ///
  /// - Parameters:
  ///   - query: The roots.
  ///   - shape: The relationships to follow, the depth, and the stores.
  ///   - context: The stores to read; for the roots as in ``follow(_:in:)``, for the others
  ///     as in ``graph(of:shape:in:)``.
  /// - Returns: The present graph, and the graph after each change, each with all entities on disk of one
  ///   snapshot. The errors of ``graph(of:shape:in:)`` end iterations. With `.localThen` a missing connection does
  ///   not.
  public func followGraph(
    of query: Query<E> = .all, shape: GraphShape<E> = .all, in context: ReadContext<E> = .local
  ) -> FollowedSequence<EntityGraph<E>> {
    let followed = AcceptedQuery(query, contract: context.contract)
    let source = FollowedSource<LiveGraph<E>>(
      line: Result { try graphLine(context) }, scope: continuous,
      validator: context.accessValidator,
      prepare: stack.prepare, first: firstAnswer(EntityRead(searching: query), in: context)
    ) {
      try query.validate()
      return try self.liveGraph(followed, shape, context)
    }
    return FollowedSequence(
      FollowedObservation(source: source) {
        let access = source.access
        var seen: EntityGraph<E>?
        return { loaded, _ in
          let graph = source.allows(access) ? loaded.graph : .empty
          if let seen, seen == graph { return nil }
          seen = graph
          return graph
        }
      })
  }

  /// Whether local roots can be read at any time.
  private var rootsCanBeRead: Bool { stack.followedStore != nil || stack.memory != nil }

  private func liveGraph(
    _ followed: AcceptedQuery<E>, _ shape: GraphShape<E>, _ context: ReadContext<E>
  ) throws -> LiveGraph<E> {
    let sources = GraphSources(self, of: E.self, continuous, shape.rest ?? .rest(context))
    return LiveGraph(followed, try GraphRules(shape), sources, memory: readRoots(besides: sources))
  }

  /// Reads the roots, if they are not in the store of the graph.
  private func readRoots(besides sources: GraphSources) -> LiveGraph<E>.ReadRoots? {
    guard let store = stack.followedStore else { return stack.memory.map { Self.readRoots($0) } }
    guard store !== sources.store else { return nil }
    return { followed in try store.read { try followed.read($0) } }
  }

  private static func readRoots<Memory: FollowedMemory<E>>(
    _ memory: Memory
  ) -> LiveGraph<E>.ReadRoots { { try memory.read($0) } }

  /// The source of changes for graphs.
  private func graphLine(
    _ context: ReadContext<E>
  ) throws -> FollowedSource<LiveGraph<E>>.Line {
    guard rootsCanBeRead || stack.local.isEmpty && hasServer else {
      throw ManagerError(
        .noStore, E.modelTypeName, "no store in memory or on disk tells of changes of this type")
    }
    guard let store = GraphSources(self, of: E.self, continuous, .rest(context)).store else {
      let line = GraphLine(providers: continuous.providers)
      return .init(begin: { line.begin($0) }, shown: continuous.providers.shown)
    }
    let hub = try StoreHub.hub(of: store)
    return .init(begin: { hub.begin($0) }, shown: hub.shown)
  }
}

extension EntityGraph {
  /// A graph without entities.
  fileprivate static var empty: EntityGraph {
    EntityGraph(roots: [], entities: [:], order: [], absent: [])
  }
}
