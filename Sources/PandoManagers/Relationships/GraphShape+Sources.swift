/// Where the entities of a graph come from.
///
/// Unless a shape says more, all are looked for as the context of the graph says: `.localOr(.remote())`
/// asks for those that are not here, `.remote()` for all. Entities of one type are asked for together,
/// those of each step in one request if the API has one for several identifiers.
extension GraphShape {
  /// This shape with a context for the entities at the end of a path.
  ///
  /// ```swift
  /// GraphShape<Book>.all.reading(\.authors, in: .remote()).reading(\.tags, in: .local)
  /// ```
  /// A contract counts: an entity that breaks it is looked for as one that is not here. Of several
  /// contexts for one path the last one counts.
  ///
  /// - Parameters:
  ///   - first: A relationship of the root.
  ///   - context: Which stores are asked.
  /// - Returns: The shape.
  public func reading<First: RelationshipValue>(
    _ first: any KeyPath<Root, First> & Sendable, in context: ReadContext<First.Target>
  ) -> GraphShape { with(.reading(.own(context)), at: GraphPath(first)) }

  /// This shape with a context for the entities at the end of a path of two steps.
  ///
  /// - Parameters:
  ///   - first: A relationship of the root.
  ///   - second: A relationship of what that leads to.
  ///   - context: Which stores are asked.
  /// - Returns: The shape.
  public func reading<First: RelationshipValue, Second: RelationshipValue>(
    _ first: any KeyPath<Root, First> & Sendable,
    _ second: any KeyPath<First.Target, Second> & Sendable, in context: ReadContext<Second.Target>
  ) -> GraphShape { with(.reading(.own(context)), at: GraphPath(first, second)) }

  /// This shape with a context for the entities at the end of a path of three steps.
  ///
  /// - Parameters:
  ///   - first: A relationship of the root.
  ///   - second: A relationship of what that leads to.
  ///   - third: A relationship of what that leads to.
  ///   - context: Which stores are asked.
  /// - Returns: The shape.
  public func reading<
    First: RelationshipValue, Second: RelationshipValue, Third: RelationshipValue
  >(
    _ first: any KeyPath<Root, First> & Sendable,
    _ second: any KeyPath<First.Target, Second> & Sendable,
    _ third: any KeyPath<Second.Target, Third> & Sendable, in context: ReadContext<Third.Target>
  ) -> GraphShape { with(.reading(.own(context)), at: GraphPath(first, second, third)) }

  /// This shape with a context for all related entities of whose path nothing is said, in the place of
  /// the context of the graph.
  ///
  /// - Parameter context: Which stores are asked; for each type by its own requests. A contract does not
  ///   count.
  /// - Returns: The shape.
  public func reading(in context: ReadContext<Root>) -> GraphShape {
    var shape = self
    shape.rest = .rest(context)
    return shape
  }

  /// This shape for a graph that is shown without what could not be asked for.
  ///
  /// ``EntityGraph/failures`` says which paths are concerned and why; without this a failure makes
  /// loading throw, and ends the iterations over a followed graph.
  public var toleratingFailures: GraphShape {
    var shape = self
    shape.toleratesFailures = true
    return shape
  }

  private func with(_ origin: GraphOrigin, at path: GraphPath<Root>) -> GraphShape {
    var shape = self
    shape.origins.append((path, origin))
    return shape
  }

  /// This shape with a source for the entities at the end of a path.
  ///
  /// The source is asked once for each identifier that comes up there. What it answers counts where
  /// the store has no such entity; a source that stores its answer is followed like any other change.
  /// What it throws makes loading throw, and ends the iterations over a followed graph, unless the shape
  /// tolerates failures.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - fetch: Returns the entities that it has, of those with the identifiers.
  /// - Returns: The shape.
  public func fetching<Target: Entity>(
    _ path: GraphPath<Root>,
    with fetch: @escaping @Sendable ([EntityIdentifier<Target>]) async throws -> [Target]
  ) -> GraphShape {
    with(.fetcher(GraphFetcher(fetch)), at: path)
  }
}
