import PandoModels
import PandoSystem

extension ModelSnapshot {
  /// Returns the entities that a query asks for.
  ///
  /// Indexes answer the conditions on indexed fields. The store compares the other fields in the records
  /// and decodes few of them. Natural order is the order in which the entities were first stored. A node
  /// of the namespace that has only records of other types is decoded and then compared.
  ///
  /// ```swift
  /// let query = Query(filter: \Issue.status == .open, order: [.descending(\.created)], limit: 20)
  /// let issues = try store.read { try $0.find(query).entities }
  /// ```
  ///
  /// - Parameter query: The query.
  /// - Returns: The entities and their groups.
  /// - Throws: `QueryError` as `validate()`; `ModelError` that names identifier, type and
  ///   field when an entity of the result can't be decoded any more and the query does not skip it;
  ///   ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n* + *m*) for *m* records between the places of an index, O(*n*) for a scan. Where a
  ///   server has ordered the entities, all that matches is read, unless `id` is a key of the order.
  public func find<E: Queryable>(_ query: Query<E>) throws -> QueryResult<E> {
    let hasOthers = !NamespaceTypes.others(of: E.self).isEmpty
    if hasOthers { return try entitiesAmongOthers(query) }
    guard let identifier = query.plainIdentifier else { return try plannedEntities(query) }
    let found = try recordedModels(identifier, as: E.self)
    return query.isGrouped
      ? QueryResult(found, groupedBy: query.groupedBy) : QueryResult(ungrouped: found)
  }

  /// Returns the first entity that a query asks for.
  ///
  /// ```swift
  /// let newest = Query(order: [.descending(\Issue.created)])
  /// let issue = try store.read { try $0.first(newest) }
  /// ```
  /// - Parameter query: The query; its groups do not matter.
  /// - Returns: The first entity of what ``find(_:)`` returns; `nil` if that is empty.
  /// - Throws: As ``find(_:)``.
  /// - Complexity: As ``find(_:)`` with a limit of 1.
  public func first<E: Queryable>(_ query: Query<E>) throws -> E? {
    var query = query
    query.groupedBy = nil
    query.limit = min(query.limit ?? 1, 1)
    return try find(query).entities.first
  }

  /// Returns the entities of a query with more parts than an identifier.
  ///
  /// A function of its own, because a function looks up the metadata of all its types when it begins.
  @inline(never)
  private func plannedEntities<E: Queryable>(_ query: Query<E>) throws -> QueryResult<E> {
    let query = try resolved(query)
    if let identifiers = query.nodeIdentifiers, identifiers.count == 1 {
      try query.validate()
      let identifier = identifiers[0]
      do {
        return query.window(of: try recordedModels(identifier, as: E.self))
      } catch let error as ModelError where query.skipsUndecodable {
        return QueryResult(without: UndecodableRecord(identifier, error))
      }
    }
    guard try isRanked(query) else { return try recordedEntities(query) }
    let recorded = try recordedEntities(query.unordered)
    var result = try inNaturalOrder(recorded.entities, query)
    result.undecodable = recorded.undecodable
    return result
  }

  /// Whether the natural order, which counts for a query, is another one than that of the node numbers.
  func isRanked<E: Queryable>(_ query: Query<E>) throws -> Bool {
    for order in query.order {
      switch order.key {
      case .field(let field, _) where field.isIdentifier: return false
      case .identifiers, .relevance: return false
      case .field, .natural: continue
      }
    }
    return try isArranged(E.modelTypeName)
  }

  /// Returns the entities of a query in the order of their nodes, where nothing else tells them apart.
  private func recordedEntities<E: Queryable>(_ query: Query<E>) throws -> QueryResult<E> {
    let stored = try proven(query)
    guard query.skipsUndecodable else {
      let found = try models(of: E.self, matching: stored.query) { stored.value($0, of: $1) }
      return QueryResult(found, groupedBy: query.groupedBy)
    }
    var undecodable: [UndecodableRecord] = []
    let found = try models(
      of: E.self, matching: stored.query, skipped: { undecodable.append($0) }
    ) { stored.value($0, of: $1) }
    var result = QueryResult(found, groupedBy: query.groupedBy)
    result.undecodable = undecodable
    return result
  }

  /// Translates a query, and compares its unproven fields with records.
  func proven<E: Queryable>(_ query: Query<E>) throws -> StoredQuery<E> {
    try proven(query) { _ in }.query
  }

  /// The same, with something that is asked of it.
  func proven<E: Queryable, Asked>(
    _ query: Query<E>, _ ask: (inout StoredQuery<E>) throws -> Asked
  ) throws -> (query: StoredQuery<E>, asked: Asked) {
    var stored = try StoredQuery(query)
    var asked = try ask(&stored)
    if !stored.open.isEmpty {
      try prove(stored.open, of: E.self)
      // The records may have said more of the fields.
      stored = try StoredQuery(query)
      asked = try ask(&stored)
    }
    return (stored, asked)
  }

  /// Returns the entities of a query where nodes without a record of the type may be among them.
  @inline(never)
  private func entitiesAmongOthers<E: Queryable>(_ query: Query<E>) throws -> QueryResult<E> {
    let query = try resolved(query)
    let projections = try projections(for: query)
    if projections.isEmpty { return try plannedEntities(query) }
    let recorded = try recordedEntities(query.unordered)
    var result = try inNaturalOrder(recorded.entities + projections, query)
    result.undecodable = recorded.undecodable
    return result
  }

  /// Answers a query from entities, whatever order they are in.
  func inNaturalOrder<E: Queryable>(_ entities: [E], _ query: Query<E>) throws -> QueryResult<E> {
    let ranks = try entities.map { try naturalRank(of: $0.modelIdentifier ?? "") ?? 0 }
    return try query.apply(
      to: entities.indices.ordered { ranks[$0] < ranks[$1] }.map { entities[$0] })
  }
}

extension Query {
  /// Whether the result has groups.
  fileprivate var isGrouped: Bool { groupedBy != nil }

  /// The identifier of the one node that is asked for, if the query has no other part than an
  /// identifier with a key that is a text.
  fileprivate var plainIdentifier: String? {
    guard case .compare(let field, .equal, .string(let text)) = filter.tree,
      let namespace = field.textNamespace, offset == 0, limit == nil, !skipsUndecodable,
      !text.isEmpty, text != EntityIdentifierText.localPrefix
    else { return nil }
    return EntityIdentifierText.modelIdentifier(text, in: namespace)
  }
}
