/// One key of the order of a result.
///
/// ```swift
/// let newest = Query<Book>(order: [.descending(\.year), .ascending(\.title)], limit: 20)
/// let found = try await books.search(withQuery: newest)
/// ```
///
/// Entities that are equal by all keys stay in natural order.
public struct QueryOrder<E: Queryable>: Hashable, Sendable {
  package enum Key: Hashable, Sendable {
    case field(QueryField<E>, isDescending: Bool)
    case natural
    case relevance
    /// The order of a list of nodes.
    case identifiers([ByteString])
  }

  package let key: Key

  /// Ascending values; null first.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The key.
  public static func ascending<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> QueryOrder { .ascending(QueryField(keyPath)) }

  /// Descending values; null last.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The key.
  public static func descending<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> QueryOrder { .descending(QueryField(keyPath)) }

  /// Ascending values of a field that a key path alone does not describe, such as folded texts; null first.
  ///
  /// ```swift
  /// let people = Query<Person>(order: [.ascending(.folded(\.name))], limit: 20)
  /// ```
  /// Texts are ordered by the bytes of UTF-8, which is the order of Unicode scalars: `Z` before `a` before
  /// `é`. Folded ones are ordered by letters without case and accents: `Ast`, `Äther`, `Aue`. Texts that
  /// differ in nothing else are equal. The order of no language is meant: an index keeps its order on disk,
  /// while the collations of system libraries change with their versions. For the order of a language, store
  /// a sort key of your own as a field, and order by that field.
  ///
  /// - Parameter field: The field; an index of it serves the order.
  /// - Returns: The key.
  public static func ascending(_ field: QueryField<E>) -> QueryOrder {
    QueryOrder(key: .field(field, isDescending: false))
  }

  /// Descending values of a field that a key path alone does not describe; null last.
  ///
  /// - Parameter field: The field; an index of it serves the order.
  /// - Returns: The key.
  public static func descending(_ field: QueryField<E>) -> QueryOrder {
    QueryOrder(key: .field(field, isDescending: true))
  }

  /// Makes a key from the name of a field, for tools.
  ///
  /// - Parameters:
  ///   - name: The name of a declared field, or `id`.
  ///   - isDescending: Whether the order is descending.
  /// - Throws: ``QueryError`` `unknownField`.
  /// - Complexity: O(*f*) for *f* declared fields.
  public init(field name: String, isDescending: Bool = false) throws(QueryError) {
    self.init(key: .field(try QueryField(named: name), isDescending: isDescending))
  }

  package init(key: Key) { self.key = key }

  /// The server's order if it is known, else the order of the inserts into the store.
  public static var natural: QueryOrder { QueryOrder(key: .natural) }

  /// The relevance for the first ``Filter/search(_:_:in:)`` that must hold; the most relevant entity first.
  ///
  /// It is the BM25 of the words among all texts of the type, so one write may change the order of others. Pando
  /// reads such a followed query again after each commit that changes a node. An order in memory, and a page
  /// after an entity, throw ``QueryError``; use an offset.
  public static var relevance: QueryOrder { QueryOrder(key: .relevance) }

  /// The order of a list of nodes; other nodes come last.
  ///
  /// - Parameter identifiers: The identifiers of the nodes.
  /// - Returns: The key.
  public static func identifiers(_ identifiers: [String]) -> QueryOrder {
    QueryOrder(key: .identifiers(identifiers.map { ByteString($0) }))
  }
}

/// Compares entities by several keys.
package struct EntitySorter<E: Queryable> {
  private enum Key {
    case field(QueryField<E>, isDescending: Bool)
    case places([ByteString: Int])
  }

  private let keys: [Key]
  /// The order of the values.
  package let order: ValueOrder

  package init(_ order: [QueryOrder<E>]) {
    // Natural order is total, so later keys have no effect.
    let counting = order.prefix { $0.key != .natural }
    keys = counting.map { order in
      switch order.key {
      case .field(let field, let isDescending): .field(field, isDescending: isDescending)
      case .identifiers(let ids):
        .places(Dictionary(zip(ids, ids.indices), uniquingKeysWith: { first, _ in first }))
      // Only a store has it, and the order of its results stays.
      case .relevance: .places([:])
      case .natural: preconditionFailure("the natural order has been left out")
      }
    }
    self.order = ValueOrder(
      areDescending: keys.map { if case .field(_, isDescending: true) = $0 { true } else { false } }
    )
  }

  /// The values of an entity for the keys.
  package func values(of entity: E) -> [QueryValue] {
    keys.map { key in
      switch key {
      case .field(let field, _): field.value(entity)
      case .places(let places):
        .integer(Int64(entity.modelIdentifier.flatMap { places[ByteString($0)] } ?? .max))
      }
    }
  }

  /// Whether values come before other values.
  package func areInOrder(_ left: [QueryValue], _ right: [QueryValue]) -> Bool {
    order.areInOrder(left, right)
  }

  /// Sorts entities; equal ones keep their order.
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

/// Compares the values of entities in the fields of an order.
///
/// Not generic, because the compiler specializes no code for it otherwise.
package struct ValueOrder: Sendable {
  let areDescending: [Bool]

  /// Whether values come before other values.
  package func areInOrder(_ left: [QueryValue], _ right: [QueryValue]) -> Bool {
    for (index, isDescending) in areDescending.enumerated() where left[index] != right[index] {
      return (left[index] < right[index]) != isDescending
    }
    return false
  }
}
