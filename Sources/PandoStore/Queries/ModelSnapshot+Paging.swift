import PandoModels

extension ModelSnapshot {
  /// Returns the identifiers of the nodes that a query gives, in its order, without decoding them.
  ///
  /// - Parameters:
  ///   - query: The query; its groups do not matter.
  ///   - model: The last shown entity, as in ``find(_:after:)``.
  /// - Returns: The identifiers of the nodes.
  /// - Throws: As ``find(_:after:)``.
  /// - Complexity: As ``find(_:after:)``; instead of decoding O(log *n*) for each identifier.
  public func modelIdentifiers<M: Queryable>(
    matching query: Query<M>, after model: M? = nil
  ) throws -> [String] {
    let query = try resolved(query)
    guard try isToldByRows(query) else {
      return try find(query, after: model).entities.compactMap(\.modelIdentifier)
    }
    let stored = try stored(query, after: model)
    return try identifiers(matching: stored.query, as: M.self) { stored.value($0, of: $1) }
  }

  /// Returns the next page: the entities of a query that come after a given one.
  ///
  /// The page begins after the place of that entity in the order of the query. The values in `entity` give the
  /// place and, among equal values, the natural order. An insertion between two pages repeats and omits nothing. Offset and limit count from there.
  ///
  /// ```swift
  /// let newest = Query(order: [.descending(\Issue.created)], limit: 20)
  /// var page = try store.read { try $0.find(newest) }
  /// while let last = page.entities.last {
  ///   show(page)
  ///   page = try store.read { try $0.find(newest, after: last) }
  /// }
  /// ```
  /// - Parameters:
  ///   - query: The query.
  ///   - entity: The last shown entity; `nil` for the first page.
  /// - Returns: The entities and their groups.
  /// - Throws: As ``find(_:)``; `QueryError` `lostPlace` if the entity has been deleted. An order with the key
  ///   `id`, or with the fields of a unique index, prevents that: its keys give the place of a deleted entity.
  /// - Complexity: As ``find(_:)``; in natural order, and where an index has the order, from the
  ///   place of `entity` on. The store reads all matching records for a query that skips records, in a
  ///   namespace with nodes without a record of the type, and where a server has ordered the entities.
  public func find<E: Queryable>(
    _ query: Query<E>, after entity: E?
  ) throws -> QueryResult<E> {
    guard let entity else { return try find(query) }
    let query = try resolved(query)
    guard try isToldByRows(query) else {
      return try query.window(of: try find(query.whole).entities, after: entity)
    }
    let stored = try stored(query, after: entity)
    let found = try models(of: E.self, matching: stored.query) { stored.value($0, of: $1) }
    return QueryResult(found, groupedBy: query.groupedBy)
  }

  /// Whether the stored records of the type alone determine the result of a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - isInOrder: Whether their natural order counts.
  /// - Returns: Whether they are.
  /// - Throws: `StoreError`.
  func isToldByRows<E: Queryable>(
    _ query: Query<E>, isInOrder: Bool = true
  ) throws -> Bool {
    if query.skipsUndecodable { return false }
    if isInOrder, try isRanked(query) { return false }
    return try projections(for: query).isEmpty
  }

  private func stored<E: Queryable>(_ query: Query<E>, after entity: E?) throws -> StoredQuery<E> {
    var stored = try proven(query)
    guard let entity else { return stored }
    let values = EntitySorter(query.order).values(of: entity)
    let node = try nodeNumber(of: entity.modelIdentifier ?? "")
    guard let node = node ?? (query.tellsApart(values) ? 0 : nil) else {
      throw query.lostPlace(entity)
    }
    stored.query.after = RecordPlace(values: values, node: node)
    return stored
  }
}

extension Query {
  /// Whether no two entities can have the same place in the order.
  ///
  /// - Parameter values: The values of one by the keys of the order, as ``EntitySorter`` gives them.
  /// - Returns: Whether `id`, or the fields of a unique index, are among the keys.
  func tellsApart(_ values: [QueryValue]) -> Bool {
    let fields = zip(order.prefix { $0.key != .natural }, values).compactMap { order, value in
      if case .field(let field, _) = order.key { (field: field, value: value) } else { nil }
    }
    return fields.contains(where: \.field.isIdentifier)
      || E.indexes.contains { $0.tellsApart(fields) }
  }

  /// Whether the order says which entities are in the result.
  package var hasWindow: Bool { limit != nil || offset > 0 || !uniqueBy.isEmpty }

  /// The query without groups, offset and limit.
  package var whole: Query {
    var whole = self
    whole.offset = 0
    whole.limit = nil
    whole.groupedBy = nil
    return whole
  }

  func lostPlace(_ entity: E) -> QueryError {
    QueryError(
      .lostPlace, entity.modelIdentifier ?? "",
      "the entity is gone, and so is its place among others of the same values; order by a unique key last, such as id"
    )
  }

  /// The part of an ordered result, given without offset and limit, that comes after an entity.
  package func window(of ordered: [E], after entity: E) throws(QueryError) -> QueryResult<E> {
    let sorter = EntitySorter(order)
    let place = sorter.values(of: entity)
    let found = ordered.firstIndex { $0.isSameNode(as: entity) }
    var rest: [E] = []
    for (index, other) in ordered.enumerated() {
      let values = sorter.values(of: other)
      if sorter.areInOrder(place, values) {
        rest.append(other)
      } else if !sorter.areInOrder(values, place) {
        guard let found = found ?? (tellsApart(place) ? -1 : nil) else {
          throw lostPlace(entity)
        }
        if index > found { rest.append(other) }
      }
    }
    return window(of: rest)
  }
}
