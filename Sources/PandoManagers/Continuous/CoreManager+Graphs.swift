import PandoModels
import PandoSystem
import PandoStore

/// Entities together with those that they are related to.
extension CoreManager {
  /// Returns entities with those that they are related to, all of one moment.
  ///
  /// The roots come from the stores that the context asks for; what they lead to comes from the store
  /// on disk, in one snapshot, and from the sources that the shape names.
  ///
  /// - Parameters:
  ///   - query: Which entities are the roots.
  ///   - shape: Which relationships are followed, and how far.
  ///   - context: Which stores are asked for the roots.
  /// - Returns: The graph.
  /// - Throws: What ``search(withQuery:in:)`` throws; ``ManagerError`` `unknownRelationship`; what a
  ///   source of the shape throws. An entity that is nowhere is no error: it is ``EntityGraph/missing``.
  public func graph(
    of query: Query<E> = .all, shape: GraphShape<E> = .all, in context: ReadContext<E> = .local
  ) async throws -> EntityGraph<E> {
    let access = try AccessCheck(context.accessValidator, E.self)
    let rules = try GraphRules(shape)
    let store = try storeHub(Self.graphsNeedDisk).store
    try query.validate()
    let live = LiveGraph(FollowedQuery(query, contract: context.contract), rules)
    var roots: [E]?
    if case .local = context.source {
    } else {
      roots = try await search(withQuery: query, in: context).entities
    }
    try await stack.recoverable?.prepare()
    while true {
      let loaded = try store.read { try live.load($0, from: roots) }
      if loaded.result.unasked.isEmpty {
        try access.confirm()
        return loaded.graph
      }
      try await live.fetch(loaded.result.unasked)
    }
  }

  /// Follows entities with those that they are related to.
  ///
  /// Every entity in the graph counts, not only its roots, and so does every one that it misses.
  ///
  /// - Parameters:
  ///   - query: Which entities are the roots.
  ///   - shape: Which relationships are followed, and how far.
  ///   - context: Which stores are asked for the roots; as for ``continuousSearch(withQuery:in:)``.
  /// - Returns: The graph, now and after each change; each one is of one moment. Iterations end by the
  ///   errors that ``graph(of:shape:in:)`` throws.
  public func continuousGraph(
    of query: Query<E> = .all, shape: GraphShape<E> = .all, in context: ReadContext<E> = .local
  ) -> ContinuousSequence<EntityGraph<E>> {
    let followed = FollowedQuery(query, contract: context.contract)
    let begin = Result<FollowedSource<LiveGraph<E>>.Begin, any Error> {
      let hub = try storeHub(Self.graphsNeedDisk)
      return { hub.begin($0) }
    }
    let source = FollowedSource<LiveGraph<E>>(
      begin: begin, scope: continuous, validator: context.accessValidator,
      prepare: stack.prepare, first: firstAnswer(EntityRead(searching: query), in: context)
    ) {
      try query.validate()
      return LiveGraph(followed, try GraphRules(shape))
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

  private static var graphsNeedDisk: String {
    "graphs are loaded from a store on disk, and this type has none"
  }
}

extension EntityGraph {
  /// Nothing.
  fileprivate static var empty: EntityGraph {
    EntityGraph(roots: [], entities: [:], order: [], absent: [])
  }
}
