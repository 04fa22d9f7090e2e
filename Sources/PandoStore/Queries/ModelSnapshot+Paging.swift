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
    guard try isDeterminedByRecords(query) else {
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
    guard try isDeterminedByRecords(query) else {
      return try query.window(of: try find(query.whole).entities, after: entity)
    }
    let stored = try stored(query, after: entity)
    let found = try models(of: E.self, matching: stored.query) { stored.value($0, of: $1) }
    return QueryResult(found, groupedBy: query.groupedBy)
  }

  /// Returns a page of the result of a query: the first one, or the one at a cursor.
  ///
  /// The next page begins behind the last entity of this one, by the values of the order; of entities with equal values,
  /// the one that was stored first comes first. So writes between two pages repeat and omit no entity that stays in its
  /// place, whether or not the entity at the edge still exists. An entity whose values of the order change may be on
  /// both pages or on none. See ``QueryCursor`` for cursors in the hands of a client.
  ///
  /// ```swift
  /// let newest = Query(order: [.descending(\Order.created)], limit: 20)
  /// let first = try store.read { try $0.page(of: newest) }
  /// if let cursor = first.next {
  ///   let second = try store.read { try $0.page(of: newest, at: cursor) }
  /// }
  /// ```
  /// - Parameters:
  ///   - query: The query; its limit is the size of a page, and without one a page has all the rest.
  ///   - cursor: ``QueryPage/next`` or ``QueryPage/previous`` of a page of the same order; `nil` for the first page. The
  ///     filter, the limit and the groups may differ.
  /// - Returns: The page.
  /// - Throws: As ``find(_:)``; ``QueryError`` `invalidCursor` for a cursor of another order, `noPages` for a query with
  ///   an offset, with `uniqueBy` or with the limit 0, and where a server has ordered the entities and `id` is no key of
  ///   the order.
  /// - Complexity: O(log *n* + *p*) for a page of *p* entities where an index has the whole order and decides the filter,
  ///   and in natural order without a filter. Otherwise as ``find(_:)`` without an offset: the rows or records of all
  ///   matches are read, and those of a page are kept. All matches are decoded where nodes without a record of the type
  ///   are in the namespace, and for a query that skips records.
  public func page<E: Queryable>(
    of query: Query<E>, at cursor: QueryCursor<E>? = nil
  ) throws -> QueryPage<E> {
    let query = try resolved(query)
    try query.requirePages()
    if try isRanked(query) {
      throw QueryError(
        .noPages, E.modelTypeName,
        "a server orders the entities, and may change that order; add id as the last key")
    }
    let place = cursor?.place
    if let place { try query.require(place) }
    // One more tells whether there is another page.
    var wider = query
    wider.limit = query.limit.map { $0 == .max ? $0 : $0 + 1 }
    var result = try window(of: wider, at: place)
    let isMore = result.entities.count > query.limit ?? .max
    if isMore {
      let entities =
        place?.isBackward ?? false ? result.entities.dropFirst() : result.entities.dropLast()
      let undecodable = result.undecodable
      result = QueryResult(Array(entities), groupedBy: query.groupedBy)
      result.undecodable = undecodable
    }
    let isFirst = place.map { $0.isBackward && !isMore } ?? true
    let isLast = !(place?.isBackward ?? false) && !isMore
    return QueryPage(
      result: result,
      next: isLast
        ? nil : try self.cursor(at: result.entities.last, place, query, isBackward: false),
      previous: isFirst
        ? nil : try self.cursor(at: result.entities.first, place, query, isBackward: true))
  }

  /// The entities behind a place, or before it, in the order of the query.
  private func window<E: Queryable>(
    of query: Query<E>, at place: CursorPlace?
  ) throws -> QueryResult<E> {
    guard try isDeterminedByRecords(query) else { return try decodedWindow(of: query, at: place) }
    var stored = try proven(query)
    stored.query.after = place.map { RecordPlace(values: $0.values, node: $0.node) }
    stored.query.isReversed = place?.isBackward ?? false
    let found = try models(of: E.self, matching: stored.query) { stored.value($0, of: $1) }
    return QueryResult(
      stored.query.isReversed ? found.reversed() : found, groupedBy: query.groupedBy)
  }

  /// The same from all matches.
  private func decodedWindow<E: Queryable>(
    of query: Query<E>, at place: CursorPlace?
  ) throws -> QueryResult<E> {
    let all = try find(query.whole)
    let sorter = EntitySorter(query.order)
    var entities = all.entities
    if let place {
      entities = try entities.filter { entity in
        let values = sorter.values(of: entity)
        if sorter.areInOrder(values, place.values) { return place.isBackward }
        if sorter.areInOrder(place.values, values) { return !place.isBackward }
        let node = try nodeNumber(of: entity.modelIdentifier ?? "") ?? 0
        return place.isBackward ? node < place.node : node > place.node
      }
    }
    let limit = query.limit ?? .max
    var result = QueryResult(
      Array(place?.isBackward ?? false ? entities.suffix(limit) : entities.prefix(limit)),
      groupedBy: query.groupedBy)
    result.undecodable = all.undecodable
    return result
  }

  /// The cursor at an edge of a page; for an empty page, at the place from which it was read.
  private func cursor<E: Queryable>(
    at entity: E?, _ place: CursorPlace?, _ query: Query<E>, isBackward: Bool
  ) throws -> QueryCursor<E>? {
    guard let entity else {
      guard let place else { return nil }
      // The entity at the place is on the other side of it.
      let node = isBackward ? place.node + 1 : place.node - min(place.node, 1)
      return QueryCursor(
        CursorPlace(
          isBackward: isBackward, fingerprint: place.fingerprint, values: place.values, node: node))
    }
    guard let node = try nodeNumber(of: entity.modelIdentifier ?? "") else {
      throw query.lostPlace(entity)
    }
    return QueryCursor(
      CursorPlace(
        isBackward: isBackward, fingerprint: CursorPlace.fingerprint(query.order),
        values: EntitySorter(query.order).values(of: entity), node: node))
  }

  /// Whether the stored records of the type alone determine the result of a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - isInOrder: Whether their natural order counts.
  /// - Returns: Whether they are.
  /// - Throws: `StoreError`.
  func isDeterminedByRecords<E: Queryable>(
    _ query: Query<E>, isInOrder: Bool = true
  ) throws -> Bool {
    if query.skipsUndecodable { return false }
    if isInOrder, try isRanked(query) { return false }
    return try projections(for: query).isEmpty
  }

  private func stored<E: Queryable>(_ query: Query<E>, after entity: E?) throws -> StoredQuery<E> {
    var stored = try proven(query)
    guard let entity else { return stored }
    if query.order.contains(where: { $0.key == .relevance }) {
      throw QueryError(
        .lostPlace, entity.modelIdentifier ?? "",
        "an order by relevance has no place for an entity; use an offset")
    }
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
  /// Throws if the query has no pages.
  fileprivate func requirePages() throws(QueryError) {
    func fail(_ reason: String) -> QueryError { QueryError(.noPages, E.modelTypeName, reason) }
    try validate()
    if offset > 0 { throw fail("a page begins at a cursor, so the query can't have an offset") }
    if !uniqueBy.isEmpty {
      throw fail("uniqueBy chooses among all entities, so a page can't say which are on others")
    }
    if order.contains(where: { $0.key == .relevance }) {
      throw fail(
        "relevance changes with each write; read the first entities by a limit and an offset")
    }
    if limit == 0 { throw fail("a page without entities has no end; give a limit above 0") }
  }

  /// Throws if a place is not one in the order of the query.
  fileprivate func require(_ place: CursorPlace) throws(QueryError) {
    let keyCount = order.prefix { $0.key != .natural }.count
    guard place.fingerprint == CursorPlace.fingerprint(order), place.values.count == keyCount else {
      throw QueryError(
        .invalidCursor, E.modelTypeName,
        "the cursor belongs to another order or another type; begin with the first page")
    }
  }

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
