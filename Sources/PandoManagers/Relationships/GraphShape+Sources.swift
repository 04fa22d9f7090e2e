/// The sources of a graph's entities.
///
/// By default all are read as the context of the graph says: `.localOr(.remote())` requests those that the
/// local stores lack, `.remote()` all. Each step requests the entities of one type together, in one request
/// if the API has one for several identifiers.
extension GraphShape {
  /// This shape with a context for the entities at the end of a path.
  ///
  /// ```swift
  /// GraphShape<Book>.all.reading(\.authors, in: .remote()).reading(\.tags, in: .local)
  /// ```
  /// An entity that breaks the contract of the context is read as if the local stores lacked it. Of several
  /// contexts for one path the last one counts.
  ///
  /// - Parameters:
  ///   - first: A relationship of the root.
  ///   - context: The stores to read.
  /// - Returns: The shape.
  public func reading<First: RelationshipValue>(
    _ first: any KeyPath<Root, First> & Sendable, in context: ReadContext<First.Target>
  ) -> GraphShape { with(.reading(.own(context)), at: GraphPath(first)) }

  /// This shape with a context for the entities at the end of a path of two steps.
  ///
  /// - Parameters:
  ///   - first: A relationship of the root.
  ///   - second: A relationship of its target.
  ///   - context: The stores to read.
  /// - Returns: The shape.
  public func reading<First: RelationshipValue, Second: RelationshipValue>(
    _ first: any KeyPath<Root, First> & Sendable,
    _ second: any KeyPath<First.Target, Second> & Sendable, in context: ReadContext<Second.Target>
  ) -> GraphShape { with(.reading(.own(context)), at: GraphPath(first, second)) }

  /// This shape with a context for the entities at the end of a path of three steps.
  ///
  /// - Parameters:
  ///   - first: A relationship of the root.
  ///   - second: A relationship of its target.
  ///   - third: A relationship of that target.
  ///   - context: The stores to read.
  /// - Returns: The shape.
  public func reading<
    First: RelationshipValue, Second: RelationshipValue, Third: RelationshipValue
  >(
    _ first: any KeyPath<Root, First> & Sendable,
    _ second: any KeyPath<First.Target, Second> & Sendable,
    _ third: any KeyPath<Second.Target, Third> & Sendable, in context: ReadContext<Third.Target>
  ) -> GraphShape { with(.reading(.own(context)), at: GraphPath(first, second, third)) }

  /// This shape with a context for the related entities of all other paths, instead of the context of the
  /// graph.
  ///
  /// - Parameter context: The stores to read; each type makes its own requests. A contract is ignored.
  /// - Returns: The shape.
  public func reading(in context: ReadContext<Root>) -> GraphShape {
    var shape = self
    shape.rest = .rest(context)
    return shape
  }

  /// This shape with tolerance for failed requests.
  ///
  /// ``EntityGraph/failures`` has the paths and the errors. Without tolerance a failure makes loading throw,
  /// and ends the iterations over a followed graph.
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
  /// The source is called once for each identifier at the end of the path. Its entities are shown where no
  /// store has them; an entity that the source stores is followed like any other. Its errors make loading
  /// throw, and end the iterations over a followed graph, unless the shape tolerates failures.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - fetch: Returns entities for identifiers; it can leave some out.
  /// - Returns: The shape.
  public func fetching<Target: Entity>(
    _ path: GraphPath<Root>,
    with fetch: @escaping @Sendable ([EntityIdentifier<Target>]) async throws -> [Target]
  ) -> GraphShape {
    with(.fetcher(GraphFetcher(fetch)), at: path)
  }
}
