import PandoModels
import PandoStore
import PandoSystem

/// A query, prepared for being followed.
///
/// Made once and never changed, so an object.
final class FollowedQuery<E: Queryable>: Sendable {
  /// How many more than are shown are kept of a query with a limit, at least and at most.
  private static var reserve: ClosedRange<Int> { 8...256 }

  /// What the user asked for.
  let query: Query<E>
  /// What a window is filled with: what is shown, what is before it, and a reserve.
  let stored: Query<E>
  /// How many entities a window keeps at most; `nil` for all that match.
  let capacity: Int?
  /// How many entities a window needs, with those before the shown ones; `nil` for all that match.
  let shownCount: Int?
  /// Whether a change says where an entity comes to stand; else the window is filled again.
  let ordersByChange: Bool
  /// How changes find it.
  let key: FollowedKey
  /// Whether who holds an entity counts, so that a change of any node may change the result.
  let needsStore: Bool
  private let contract: (any EntityContract<E>)?
  private let sorter: EntitySorter<E>

  /// Prepares a query.
  ///
  /// - Parameters:
  ///   - query: A valid query.
  ///   - contract: What every entity must fulfil; others are not shown.
  init(_ query: Query<E>, contract: (any EntityContract<E>)? = nil) {
    self.query = query
    self.contract = contract
    sorter = EntitySorter(query.order)
    var stored = query
    stored.groupedBy = nil
    stored.offset = 0
    let shownCount = query.limit.map { query.offset.addingReportingOverflow($0) }
      .flatMap { $0.overflow ? nil : $0.partialValue }
    self.shownCount = shownCount
    // Which entity of several with one value counts, and which are good enough, only all can tell.
    if query.uniqueBy.isEmpty, contract == nil, let limit = query.limit, let shownCount {
      let (capacity, overflows) = shownCount.addingReportingOverflow(
        min(max(limit, Self.reserve.lowerBound), Self.reserve.upperBound))
      self.capacity = overflows ? nil : capacity
    } else {
      capacity = nil
    }
    stored.limit = capacity
    self.stored = stored
    ordersByChange = query.uniqueBy.isEmpty && query.nodeIdentifiers == nil
    needsStore = query.filter.needsStore
    key = needsStore ? .type : Self.key(of: query)
  }

  /// Whether a change of a node inside an entity may let it in, though none that is shown is like it.
  var looksIntoNodes: Bool {
    if contract != nil { return true }
    var fields = query.uniqueBy + query.filter.tree.fields
    for case .field(let field, _) in query.order.map(\.key) { fields.append(field) }
    return fields.contains(where: \.mayLeadThroughNodes)
  }

  /// Whether an entity is shown, if there is room.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - isKept: Whether it is shown or in reserve already: it may have got another identifier since it
  ///     was asked for by name.
  /// - Returns: Whether it is.
  func accepts(_ entity: RankedEntity<E>, isKept: Bool) -> Bool {
    if case .identifiers = key {
      guard isKept || key.names(entity.identifier) else { return false }
    } else if !query.matches(entity.entity) {
      return false
    }
    return contract?.isValid(entity.entity, for: query) ?? true
  }

  /// Which of the entities that the store has found are shown.
  func accepted(_ entities: [RankedEntity<E>]) -> [RankedEntity<E>] {
    guard let contract else { return entities }
    return entities.filter { contract.isValid($0.entity, for: query) }
  }

  /// Where an entity stands among others, or comes to stand.
  func place(
    of entity: RankedEntity<E>, in others: ChunkedArray<RankedEntity<E>>
  ) -> ChunkedArray<RankedEntity<E>>.Index {
    let values = sorter.values(of: entity.entity)
    return others.partitioningIndex { other in
      let otherValues = sorter.values(of: other.entity)
      if sorter.areInOrder(otherValues, values) { return false }
      return other.rank >= entity.rank || sorter.areInOrder(values, otherValues)
    }
  }

  /// Sorts entities as a window keeps them.
  func sorted(_ entities: [RankedEntity<E>]) -> [RankedEntity<E>] {
    let values = entities.map { sorter.values(of: $0.entity) }
    let places = entities.indices.sorted { left, right in
      values[left] == values[right]
        ? entities[left].rank < entities[right].rank
        : sorter.areInOrder(values[left], values[right])
    }
    return places.map { entities[$0] }
  }

  /// Whether a new value of an entity stands where the old one stood.
  func keepsPlace(_ old: RankedEntity<E>, _ new: RankedEntity<E>) -> Bool {
    guard old.rank == new.rank else { return false }
    for field in query.uniqueBy where field.value(old.entity) != field.value(new.entity) {
      return false
    }
    return sorter.values(of: old.entity) == sorter.values(of: new.entity)
  }

  private static func key(of query: Query<E>) -> FollowedKey {
    if let identifiers = query.nodeIdentifiers {
      return .identifiers(Set(identifiers.map { ByteString($0) }))
    }
    let values = Self.values(in: query.filter.tree)
    return values.isEmpty ? .type : .values(values)
  }

  /// The values that everything that matches has, whatever the order of `&&`.
  private static func values(in tree: FilterTree<QueryField<E>>) -> [FieldValue] {
    switch tree {
    case .and(let parts): parts.flatMap { values(in: $0) }
    case .compare(let field, .equal, let value):
      field.name.map { [FieldValue(field: $0, value: value)] } ?? []
    default: []
    }
  }
}
