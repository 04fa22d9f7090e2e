import PandoModels

/// Entities with their related entities; the related ones on disk are of one snapshot.
///
/// ```swift
/// let graph = try await loans.graph(of: .all, shape: .including(GraphPath(\.book, \.author)))
/// for loan in graph.roots { print(graph.related(to: loan, by: \.book).first?.title ?? "?") }
/// ```
/// Each entity is in it once, whatever number of relationships lead to it.
public struct EntityGraph<Root: Entity>: Sendable {
  /// The roots, in the order of the query.
  public let roots: [Root]

  /// All entities, by the identifiers of their nodes.
  let entities: [ByteString: any Entity]
  /// The identifiers of all entities, in the order of the walk from the roots.
  let order: [ByteString]
  /// The named entities that no store has.
  let absent: [ByteString]
  /// The named entities that were requested.
  var awaited: [ByteString] = []

  /// The identifiers of nodes that entities of the graph name and that no store has.
  public var missing: [String] { absent.map(\.text) }

  /// The identifiers of nodes whose request has no answer yet; in a followed graph only.
  public var pending: [String] { awaited.map(\.text) }

  /// The failures of requests, if the shape tolerates them.
  public internal(set) var failures: [GraphFailure] = []

  /// The number of entities, with the roots.
  public var count: Int { order.count }

  /// Returns an entity of the graph.
  ///
  /// - Parameter identifier: Its identifier.
  /// - Returns: The entity; `nil` if it is not in the graph.
  public subscript<E: Entity>(identifier: EntityIdentifier<E>) -> E? {
    entities[ByteString(identifier.modelIdentifier)] as? E
  }

  /// Returns the entities of a type: the roots in the order of the query, then the others by their number of steps from
  /// a root.
  ///
  /// - Parameter type: The type.
  /// - Returns: The entities, roots included.
  public func all<E: Entity>(of type: E.Type = E.self) -> [E] {
    order.compactMap { entities[$0] as? E }
  }

  /// Returns the related entities of an entity.
  ///
  /// - Parameters:
  ///   - entity: An entity of the graph.
  ///   - relationship: The property with their identifiers.
  /// - Returns: Those in the graph, in the order of the identifiers.
  public func related<E: Entity, Value: RelationshipValue>(
    to entity: E, by relationship: KeyPath<E, Value>
  ) -> [Value.Target] {
    entity[keyPath: relationship].relatedIdentifiers.compactMap { self[$0] }
  }
}

extension EntityGraph: Equatable {
  /// Whether both have the same entities in the same order, the same missing and pending ones, and equal
  /// failures.
  ///
  /// - Parameters:
  ///   - left: A graph.
  ///   - right: A graph.
  /// - Returns: Whether they are equal.
  public static func == (left: EntityGraph, right: EntityGraph) -> Bool {
    guard left.order == right.order, left.absent == right.absent, left.awaited == right.awaited,
      left.failures == right.failures, left.roots == right.roots
    else { return false }
    return left.order.allSatisfy { key in
      guard let one = left.entities[key], let other = right.entities[key] else { return false }
      return one.isEqual(to: other)
    }
  }
}
