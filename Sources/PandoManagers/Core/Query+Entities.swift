import PandoModels
public import PandoStore

extension Query where E: Entity {
  /// Asks for entities by their identifiers, in their order.
  ///
  /// - Parameter ids: The identifiers.
  public init(ids: [EntityIdentifier<E>]) {
    self.init(filter: .ids(ids), order: [.identifiers(ids)])
  }

  /// The identifiers asked for, if the filter asks for identifiers and for nothing else.
  public var identifiers: [EntityIdentifier<E>]? {
    identifierValues?.compactMap { EntityIdentifier(queryValue: $0) }
  }
}

extension QueryOrder where E: Entity {
  /// As in a list; those that it does not name come last.
  ///
  /// - Parameter ids: The list.
  /// - Returns: The key.
  public static func identifiers(_ ids: [EntityIdentifier<E>]) -> QueryOrder {
    QueryOrder(key: .identifiers(ids.map { ByteString($0.modelIdentifier) }))
  }
}

extension Filter where E: Entity {
  /// Entities with certain identifiers.
  ///
  /// - Parameter ids: The identifiers.
  /// - Returns: The filter.
  public static func ids(_ ids: [EntityIdentifier<E>]) -> Filter { \E.id >> ids }
}

extension Filter {
  /// Entities that another entity holds, wherever in it.
  ///
  /// - Parameter id: The identifier of the one that holds them.
  /// - Returns: The filter.
  public static func held<Parent: Entity>(by id: EntityIdentifier<Parent>) -> Filter {
    held(by: id.modelIdentifier)
  }

  /// Entities whose field is a certain entity.
  ///
  /// - Parameters:
  ///   - keyPath: Where the other entity is in the entity.
  ///   - id: The identifier of the other one.
  /// - Returns: The filter.
  public static func holds<Child: Entity>(
    _ keyPath: any KeyPath<E, Child> & Sendable, _ id: EntityIdentifier<Child>
  ) -> Filter { holds(keyPath, id.modelIdentifier) }

  /// Entities whose field, which may be nil, is a certain entity.
  ///
  /// - Parameters:
  ///   - keyPath: Where the other entity is in the entity.
  ///   - id: The identifier of the other one.
  /// - Returns: The filter.
  public static func holds<Child: Entity>(
    _ keyPath: any KeyPath<E, Child?> & Sendable, _ id: EntityIdentifier<Child>
  ) -> Filter { holds(keyPath, id.modelIdentifier) }

  /// Entities in whose list a certain entity is.
  ///
  /// - Parameters:
  ///   - keyPath: Where the list is in the entity.
  ///   - id: The identifier of the other one.
  /// - Returns: The filter.
  public static func holds<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable, _ id: EntityIdentifier<List.Element>
  ) -> Filter where List.Element: Entity { holds(keyPath, id.modelIdentifier) }
}
