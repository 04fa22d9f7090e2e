import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// Entities together with those that they are related to.
extension CoreManager {
  /// Returns entities with those that they are related to.
  ///
  /// ```swift
  /// let graph = try await books.graph(of: recent, in: .localOr(.remote()))
  /// ```
  /// The roots come from the stores that the context asks for. What they lead to is looked for as the
  /// context says, too: `.localOr(.remote())` asks the server for what is not here, `.remote()` for all, step
  /// by step and each entity once, those of one type in one request if the API has one for several
  /// identifiers; what it answers is stored as the context says. The shape can say otherwise for single
  /// paths (``GraphShape/reading(_:in:)``). A type that has no server is looked for here, and one that the
  /// container does not have in the store on disk.
  ///
  /// What is on disk is of one snapshot, what is in memory is read at that time.
  ///
  /// - Parameters:
  ///   - query: Which entities are the roots.
  ///   - shape: Which relationships are followed, how far, and where the entities come from.
  ///   - context: Which stores are asked. Its contract counts for the roots, its access validator for all.
  /// - Returns: The graph.
  /// - Throws: What ``search(withQuery:in:)`` throws; ``ManagerError`` `unknownRelationship`; what a
  ///   server or a source of the shape throws, unless the shape tolerates failures. An entity that is
  ///   nowhere is no error: it is ``EntityGraph/missing``.
  /// - Complexity: As ``search(withQuery:in:)`` for the roots; local ones in memory cost O(*n* log *n*) for all
  ///   *n* of their type, whatever the query. Then O(log *n*) for each node of an entity on disk, O(1) for an
  ///   entity in memory, and all of it once more after each step that asks a server.
  public func graph(
    of query: Query<E> = .all, shape: GraphShape<E> = .all, in context: ReadContext<E> = .local
  ) async throws -> EntityGraph<E> {
    let access = try AccessCheck(context.accessValidator, E.self)
    let live = try liveGraph(FollowedQuery(query, contract: context.contract), shape, context)
    try query.validate()
    if case .local = context.source, rootsCanBeRead {
    } else {
      _ = live.show(try await search(withQuery: query, in: context))
    }
    try await stack.recoverable?.prepare()
    while true {
      let loaded = try live.load()
      let asks = loaded.result.asks.filter { !$0.isBehind }
      if asks.isEmpty {
        try access.confirm()
        live.refresh(loaded.result.asks)
        return loaded.graph
      }
      try await live.fetch(asks)
    }
  }

  /// Follows entities with those that they are related to.
  ///
  /// Every entity in the graph counts, not only its roots, and so does every one that it misses. What is
  /// here is shown at once, without what is asked for (``EntityGraph/pending``), then again after each
  /// answer.
  ///
  /// - Parameters:
  ///   - query: Which entities are the roots.
  ///   - shape: Which relationships are followed, how far, and where the entities come from.
  ///   - context: Which stores are asked; for the roots as for ``continuousSearch(withQuery:in:)``, for the
  ///     others as for ``graph(of:shape:in:)``.
  /// - Returns: The graph, now and after each change; what is on disk is of one moment in each. Iterations
  ///   end by the errors that ``graph(of:shape:in:)`` throws; with `.localThen` not for lack of a
  ///   connection.
  public func continuousGraph(
    of query: Query<E> = .all, shape: GraphShape<E> = .all, in context: ReadContext<E> = .local
  ) -> ContinuousSequence<EntityGraph<E>> {
    let followed = FollowedQuery(query, contract: context.contract)
    let source = FollowedSource<LiveGraph<E>>(
      line: Result { try graphLine(context) }, scope: continuous,
      validator: context.accessValidator,
      prepare: stack.prepare, first: firstAnswer(EntityRead(searching: query), in: context)
    ) {
      try query.validate()
      return try self.liveGraph(followed, shape, context)
    }
    return ContinuousSequence(
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

  /// Whether the roots that are here can be read at any time.
  private var rootsCanBeRead: Bool { stack.followedStore != nil || stack.memory != nil }

  private func liveGraph(
    _ followed: FollowedQuery<E>, _ shape: GraphShape<E>, _ context: ReadContext<E>
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

  /// What brings changes to graphs.
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
  /// Nothing.
  fileprivate static var empty: EntityGraph {
    EntityGraph(roots: [], entities: [:], order: [], absent: [])
  }
}
