package import PandoStore

/// One key by which results are ordered.
///
/// ```swift
/// let newest = Query<Book>(order: [.descending(\.year), .ascending(\.title)], limit: 20)
/// let found = try await books.search(withQuery: newest)
/// ```
///
/// Entities that all keys call equal stay in natural order.
public struct Order<E: Queryable>: Hashable, Sendable {
  package enum Key: Hashable, Sendable {
    case field(QueryField<E>, isDescending: Bool)
    case natural
    /// As in a list of nodes.
    case identifiers([ByteString])
  }

  package let key: Key

  /// The lowest value first; null before all others.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  /// - Returns: The key.
  public static func ascending<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Order { Order(key: .field(QueryField(keyPath), isDescending: false)) }

  /// The highest value first; null after all others.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  /// - Returns: The key.
  public static func descending<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Order { Order(key: .field(QueryField(keyPath), isDescending: true)) }

  /// By a field that is named, for tools.
  ///
  /// - Parameters:
  ///   - name: The name of a declared field, or `id`.
  ///   - isDescending: Whether the highest value comes first.
  /// - Throws: ``QueryError`` `unknownField`.
  /// - Complexity: O(*f*) for *f* declared fields.
  public init(field name: String, isDescending: Bool = false) throws(QueryError) {
    self.init(key: .field(try QueryField(named: name), isDescending: isDescending))
  }

  package init(key: Key) { self.key = key }

  /// The server's order where it is known, else the order in which the store first saw them.
  public static var natural: Order { Order(key: .natural) }

  /// As in a list of nodes; those that it does not name come last.
  ///
  /// - Parameter identifiers: The identifiers of the nodes.
  /// - Returns: The key.
  public static func identifiers(_ identifiers: [String]) -> Order {
    Order(key: .identifiers(identifiers.map { ByteString($0) }))
  }
}

extension Order where E: Entity {
  /// As in a list; those that it does not name come last.
  ///
  /// - Parameter ids: The list.
  /// - Returns: The key.
  public static func identifiers(_ ids: [EntityIdentifier<E>]) -> Order {
    Order(key: .identifiers(ids.map { ByteString($0.modelIdentifier) }))
  }
}

/// Compares entities by several keys.
package struct EntitySorter<E: Queryable> {
  private enum Key {
    case field(QueryField<E>, isDescending: Bool)
    case places([ByteString: Int])
  }

  private let keys: [Key]

  package init(_ order: [Order<E>]) {
    // What comes after the natural order, which is total, never counts.
    let counting = order.prefix { $0.key != .natural }
    keys = counting.map { order in
      switch order.key {
      case .field(let field, let isDescending): .field(field, isDescending: isDescending)
      case .identifiers(let ids):
        .places(Dictionary(zip(ids, ids.indices), uniquingKeysWith: { first, _ in first }))
      case .natural: preconditionFailure("the natural order has been left out")
      }
    }
  }

  /// The values by which an entity is sorted.
  package func values(of entity: E) -> [QueryValue] {
    keys.map { key in
      switch key {
      case .field(let field, _): field.value(entity)
      case .places(let places):
        .integer(Int64(entity.modelIdentifier.flatMap { places[ByteString($0)] } ?? .max))
      }
    }
  }

  /// Whether one comes first by its values.
  package func areInOrder(_ left: [QueryValue], _ right: [QueryValue]) -> Bool {
    for (index, key) in keys.enumerated() where left[index] != right[index] {
      let isAscending = left[index] < right[index]
      if case .field(_, isDescending: true) = key { return !isAscending }
      return isAscending
    }
    return false
  }

  /// Sorts; those that are equal stay as they are.
  package func sorted(_ entities: [E]) -> [E] {
    guard !keys.isEmpty, entities.count > 1 else { return entities }
    let values = entities.map(values(of:))
    let places = entities.indices.sorted { left, right in
      if areInOrder(values[left], values[right]) { return true }
      return left < right && !areInOrder(values[right], values[left])
    }
    return places.map { entities[$0] }
  }
}
