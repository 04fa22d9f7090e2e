import PandoModels

/// Entities and those that they are related to: what is on disk of one moment.
///
/// ```swift
/// let graph = try await loans.graph(of: .all, shape: .including(GraphPath(\.book, \.author)))
/// for loan in graph.roots { print(graph.related(to: loan, by: \.book).first?.title ?? "?") }
/// ```
/// Every entity is in it once, however many others lead to it.
public struct EntityGraph<Root: Entity>: Sendable {
  /// The entities at the root, in the order of the query.
  public let roots: [Root]

  /// All entities, by the identifiers of their nodes.
  let entities: [ByteString: any Entity]
  /// The identifiers of all entities, in the order in which a walk from the roots comes to them.
  let order: [ByteString]
  /// Those that somebody names and that are nowhere.
  let absent: [ByteString]
  /// Those that somebody names and that are asked for.
  var awaited: [ByteString] = []

  /// The identifiers of nodes that entities in the graph name and that could not be found.
  public var missing: [String] { absent.map(\.text) }

  /// The identifiers of nodes that are being asked for; in a followed graph only.
  public var pending: [String] { awaited.map(\.text) }

  /// What could not be asked for, and why; of a shape that tolerates failures.
  public internal(set) var failures: [GraphFailure] = []

  /// How many entities there are, roots included.
  public var count: Int { order.count }

  /// Returns an entity of the graph.
  ///
  /// - Parameter identifier: Its identifier.
  /// - Returns: The entity; `nil` if it is not in the graph.
  public subscript<E: Entity>(identifier: EntityIdentifier<E>) -> E? {
    entities[ByteString(identifier.modelIdentifier)] as? E
  }

  /// Returns the entities of a type, in the order in which a walk from the roots comes to them.
  ///
  /// - Parameter type: The type.
  /// - Returns: The entities; those of the root type are among them.
  public func all<E: Entity>(of type: E.Type = E.self) -> [E] {
    order.compactMap { entities[$0] as? E }
  }

  /// Returns the entities that an entity is related to.
  ///
  /// - Parameters:
  ///   - entity: An entity of the graph.
  ///   - relationship: The property that holds their identifiers.
  /// - Returns: Those that are in the graph, in the order of the identifiers.
  public func related<E: Entity, Value: RelationshipValue>(
    to entity: E, by relationship: KeyPath<E, Value>
  ) -> [Value.Target] {
    entity[keyPath: relationship].relatedIdentifiers.compactMap { self[$0] }
  }
}

extension EntityGraph: Equatable {
  /// Whether both hold the same entities in the same order, and lack the same.
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
