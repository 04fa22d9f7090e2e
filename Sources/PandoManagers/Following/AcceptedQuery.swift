import PandoModels
import PandoStore
import PandoSystem

/// A query, prepared for following; immutable and shared.
final class AcceptedQuery<E: Queryable>: Sendable {
  /// The smallest and the largest number of entities that a query with a limit keeps beyond the shown ones.
  private static var reserve: ClosedRange<Int> { 8...256 }

  /// The query of the user.
  let query: Query<E>
  /// The query that fills a window: the shown entities, those before them, and a reserve.
  let stored: Query<E>
  /// The largest number of entities in a window; `nil` for all matches.
  let capacity: Int?
  /// The number of shown entities and those before them; `nil` for all matches.
  let shownCount: Int?
  /// Whether the new position of a changed entity is computed; otherwise the window is filled again.
  let ordersByChange: Bool
  /// How changes find the query.
  let key: FollowedKey
  /// Whether the result depends on other rows of the store too, such as those of parents of entities.
  let needsStore: Bool
  /// Whether the result depends on nothing but the entities and counts of other models.
  let countsModels: Bool
  /// The namespaces of all nodes that may change the result; `nil` if any may.
  let namespaces: Set<ByteString>?
  private let contract: (any EntityContract<E>)?
  private let sorter: EntitySorter<E>

  /// Prepares a query.
  ///
  /// - Parameters:
  ///   - query: A valid query.
  ///   - contract: A condition for each entity; others are not shown.
  ///   - findsByType: Whether each change of the type counts, whatever the filter.
  init(
    _ query: Query<E>, contract: (any EntityContract<E>)? = nil, findsByType: Bool = false
  ) {
    self.query = query
    self.contract = contract
    sorter = EntitySorter(query.order)
    var stored = query
    stored.groupedBy = nil
    stored.offset = 0
    let shownCount = query.limit.map { query.offset.addingReportingOverflow($0) }
      .flatMap { $0.overflow ? nil : $0.partialValue }
    self.shownCount = shownCount
    // Uniqueness and a contract need all matches.
    if query.uniqueBy.isEmpty, contract == nil, let limit = query.limit, let shownCount {
      let (capacity, overflows) = shownCount.addingReportingOverflow(
        min(max(limit, Self.reserve.lowerBound), Self.reserve.upperBound))
      self.capacity = overflows ? nil : capacity
    } else {
      capacity = nil
    }
    stored.limit = capacity
    // The contract may reject the entity that uniqueness keeps in the store.
    if contract != nil { stored.uniqueBy = [] }
    self.stored = stored
    ordersByChange = query.uniqueBy.isEmpty && query.nodeIdentifiers == nil
    needsStore = query.needsStore
    countsModels = needsStore && query.countedConditions != nil
    namespaces = query.namespaces.map { Set($0.map { ByteString($0) }) }
    key = needsStore || findsByType ? .type : Self.key(of: query, hasCapacity: capacity != nil)
  }

  /// Whether a change of a node inside an entity may add the entity to the result.
  var looksIntoNodes: Bool {
    contract != nil || query.looksIntoNodes
  }

  /// Whether an entity meets the filter and the contract; a filter that needs the store is not checked.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - isKept: Whether the window has it; such an entity need not have an identifier that the query names.
  /// - Returns: Whether it does.
  func accepts(_ entity: RankedEntity<E>, isKept: Bool) -> Bool {
    if case .identifiers = key {
      guard isKept || key.names(entity.identifier) else { return false }
    } else if !needsStore, !query.filter.accepts(entity.entity) {
      return false
    }
    return contract?.isValid(entity.entity, for: query) ?? true
  }

  /// The entities of a store's result that meet the contract; with uniqueness, the first of them in natural order.
  func accepted(_ entities: [RankedEntity<E>]) -> [RankedEntity<E>] {
    guard let contract else { return entities }
    let valid = entities.filter { contract.isValid($0.entity, for: query) }
    if query.uniqueBy.isEmpty { return valid }
    var first: [[QueryValue]: UInt64] = [:]
    let values = valid.map { entity in query.uniqueBy.map { $0.value(entity.entity) } }
    for (entity, values) in zip(valid, values) {
      first[values] = min(entity.rank, first[values] ?? .max)
    }
    return zip(valid, values).filter { first[$1] == $0.rank }.map(\.0)
  }

  /// The position of an entity among others, present or new.
  func place(of row: ResultRow, in others: ChunkedArray<ResultRow>) -> ChunkedArray<ResultRow>.Index
  { sorter.order.place(of: row, in: others) }

  /// Sorts rows in the order of a window.
  func sorted(_ rows: [ResultRow]) -> [ResultRow] {
    let order = sorter.order
    return rows.sorted { left, right in
      left.values == right.values
        ? left.rank < right.rank : order.areInOrder(left.values, right.values)
    }
  }

  /// The row of an entity in a window.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - keepsModels: Whether the row keeps it.
  /// - Returns: The row.
  func row(of entity: RankedEntity<E>, keepsModels: Bool) -> ResultRow {
    ResultRow(
      entity.identifier, rank: entity.rank, values: sorter.values(of: entity.entity),
      keepsModels ? entity.entity : nil)
  }

  /// Whether a new value of an entity has the position of the old one.
  func keepsPlace(_ old: ResultRow, _ new: ResultRow) -> Bool {
    guard old.rank == new.rank, old.values == new.values else { return false }
    if query.uniqueBy.isEmpty { return true }
    guard let old = old.entity(as: E.self), let new = new.entity(as: E.self) else { return false }
    return query.uniqueBy.allSatisfy { $0.value(old) == $0.value(new) }
  }

  private static func key(of query: Query<E>, hasCapacity: Bool) -> FollowedKey {
    if let identifiers = query.nodeIdentifiers {
      return .identifiers(Set(identifiers.map { ByteString($0) }))
    }
    let conditions = query.filter.tree.conditions()
    if hasCapacity, !conditions.contains(where: \.arePoints),
      case .field(let field, let isDescending)? = query.order.first?.key,
      let name = field.declaredName
    {
      return .order(FieldOrder(field: name, isDescending: isDescending), conditions)
    }
    return conditions.isEmpty ? .type : .values(conditions)
  }
}
