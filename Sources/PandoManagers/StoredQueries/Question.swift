import PandoModels
public import PandoStore
import PandoSystem

/// A question about the entities of a query, without the entities.
///
/// It is about the whole result: uniqueness, offset and limit of the query apply. Answers from an index or
/// from stored bytes decode nothing. Use ``ModelSnapshot/entities(matching:)`` for the entities.
///
/// ```swift
/// let open = Query(filter: \Issue.status == .open)
/// let count = try await issues.answer(.count, to: open).count
/// let perAuthor = try await issues.answer(.counts(by: \.author), to: open).counts
/// ```
public struct Question<E: Queryable>: Sendable {
  enum Kind: Sendable {
    case count, exists
    case sum(QueryField<E>)
    case minimum(QueryField<E>)
    case maximum(QueryField<E>)
    case counts(QueryField<E>)
  }

  let kind: Kind

  /// The number of entities: `count`.
  public static var count: Question { Question(kind: .count) }

  /// Whether there is an entity: `count` is 1, else 0.
  public static var exists: Question { Question(kind: .exists) }

  /// The sum of a field with numbers: `value`.
  ///
  /// Null and not-a-number are ignored; the sum of no values is 0. Integers are added exactly, others in the
  /// order of the query.
  ///
  /// - Parameter keyPath: The place of the number in the entity.
  /// - Returns: The question.
  public static func sum<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { Question(kind: .sum(QueryField(keyPath))) }

  /// The lowest value of a field: `value`; null and not-a-number are ignored.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  public static func min<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { Question(kind: .minimum(QueryField(keyPath))) }

  /// The highest value of a field: `value`; null and not-a-number are ignored.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  public static func max<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { Question(kind: .maximum(QueryField(keyPath))) }

  /// The values of a field with their numbers of entities: `counts`, in the order of values.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  public static func counts<Value: QueryRepresentable>(
    by keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { Question(kind: .counts(QueryField(keyPath))) }

  /// The different values of a field: `values`, in their order.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  public static func distinct<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { counts(by: keyPath) }

  /// Answers from the entities of the result.
  package func answer(_ entities: [E]) -> QueryAnswer {
    switch kind {
    case .count: return QueryAnswer(count: entities.count)
    case .exists: return QueryAnswer(count: entities.isEmpty ? 0 : 1)
    case .sum(let field):
      var sum = ValueSum()
      for entity in entities { sum.add(field.value(entity)) }
      return QueryAnswer(count: entities.count, value: sum.value)
    case .minimum(let field): return Self.extreme(entities.map(field.value).filter(\.isValue).min())
    case .maximum(let field): return Self.extreme(entities.map(field.value).filter(\.isValue).max())
    case .counts(let field):
      var counts: [QueryValue: Int] = [:]
      for entity in entities { counts[field.value(entity), default: 0] += 1 }
      return QueryAnswer(
        count: entities.count,
        counts: counts.keys.ordered()
          .map { QueryAnswer.ValueCount(value: $0, count: counts[$0] ?? 0) })
    }
  }

  private static func extreme(_ value: QueryValue?) -> QueryAnswer {
    QueryAnswer(count: value == nil ? 0 : 1, value: value ?? .null)
  }

  /// Throws if the question is invalid.
  func validate() throws(QueryError) {
    guard case .sum(let field) = kind, !field.kinds.contains(.number) else { return }
    throw QueryError(
      .wrongType, field.label,
      "only numbers have a sum, and this field of \(E.modelTypeName) holds none")
  }
}

extension StoredQuery {
  /// The question with the fields of this query.
  mutating func question(_ question: Question<E>) throws(QueryError) -> RecordQuestion {
    try question.validate()
    return switch question.kind {
    case .count: .count
    case .exists: .exists
    case .sum(let field): .sum(self.field(field))
    case .minimum(let field): .minimum(self.field(field))
    case .maximum(let field): .maximum(self.field(field))
    case .counts(let field): .counts(self.field(field))
    }
  }
}

extension ModelSnapshot {
  /// Answers a question about the entities of a query, without decoding them.
  ///
  /// If an index has exactly the matches, the count is that of its rows; two such indexes are intersected.
  /// The lowest and the highest value of an indexed field are at the ends of its index. Other questions read
  /// the stored bodies. ``explain(_:to:)`` returns the plan.
  ///
  /// ```swift
  /// let open = Query(filter: \Issue.status == .open)
  /// let newest = try store.read { try $0.answer(.max(\.created), to: open).value }
  /// ```
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query.
  /// - Returns: The answer.
  /// - Throws: `QueryError` as `validate()`, and `wrongType` for the sum of a field without numbers;
  ///   `StoreError` if the bytes on disk are damaged; `ModelError` if an entity has to be decoded and can't
  ///   be: for undeclared key paths.
  /// - Complexity: O(1) to count all records, O(log *n* + *p*) to count rows of an index on *p* pages, O(log
  ///   *n*) for the lowest or highest value of an indexed field. Else as ``entities(matching:)``, usually
  ///   without decoding.
  public func answer<E: Queryable>(
    _ question: Question<E>, to query: Query<E>
  ) throws -> QueryAnswer {
    let query = try resolved(query)
    guard try isToldByRows(query, isInOrder: query.hasWindow) else {
      try question.validate()
      return question.answer(try entities(matching: query).entities)
    }
    let (stored, asked) = try proven(query) { try $0.question(question) }
    return try answer(asked, to: stored.query, as: E.self) { stored.value($0, of: $1) }
  }

  /// Returns the plan for a question about the entities of a query.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query.
  /// - Returns: The plan.
  /// - Throws: As ``answer(_:to:)``.
  /// - Complexity: As ``explain(_:)``.
  public func explain<E: Queryable>(
    _ question: Question<E>, to query: Query<E>
  ) throws -> QueryPlan {
    let query = try resolved(query)
    guard try isToldByRows(query, isInOrder: query.hasWindow) else { return try explain(query) }
    let (stored, asked) = try proven(query) { try $0.question(question) }
    return try plan(for: asked, to: stored.query)
  }

  /// Returns the identifiers of the entities of a query, in its order, without decoding them.
  ///
  /// - Parameters:
  ///   - query: The query; groups are ignored.
  ///   - entity: The last entity of the page before, as in ``entities(matching:after:)``.
  /// - Returns: The identifiers.
  /// - Throws: As ``entities(matching:after:)``.
  /// - Complexity: As ``modelIdentifiers(matching:after:)``.
  public func identifiers<E: Entity>(
    matching query: Query<E>, after entity: E? = nil
  ) throws -> [EntityIdentifier<E>] {
    try modelIdentifiers(matching: query, after: entity)
      .compactMap { EntityIdentifier(modelIdentifier: $0) }
  }

  /// Returns the node identifiers of a query, in its order, without decoding the entities.
  ///
  /// - Parameters:
  ///   - query: The query; groups are ignored.
  ///   - model: The last entity of the page before, as in ``entities(matching:after:)``.
  /// - Returns: The identifiers of the nodes.
  /// - Throws: As ``entities(matching:after:)``.
  /// - Complexity: As ``entities(matching:after:)``; instead of decoding O(log *n*) for each identifier.
  public func modelIdentifiers<M: Queryable>(
    matching query: Query<M>, after model: M? = nil
  ) throws -> [String] {
    let query = try resolved(query)
    guard try isToldByRows(query) else {
      return try entities(matching: query, after: model).entities.compactMap(\.modelIdentifier)
    }
    let stored = try stored(query, after: model)
    return try identifiers(matching: stored.query, as: M.self) { stored.value($0, of: $1) }
  }

  /// Returns the entities of a query that follow a given one: the next page.
  ///
  /// The page begins after the position of that entity in the order, by its values as given and, among equal
  /// ones, by natural order. So inserts between two pages neither repeat nor skip an entity. Offset and limit
  /// count from there.
  ///
  /// ```swift
  /// let newest = Query(order: [.descending(\Issue.created)], limit: 20)
  /// var page = try store.read { try $0.entities(matching: newest) }
  /// while let last = page.entities.last {
  ///   show(page)
  ///   page = try store.read { try $0.entities(matching: newest, after: last) }
  /// }
  /// ```
  /// - Parameters:
  ///   - query: The query.
  ///   - entity: The last entity of the page before; `nil` for the first page.
  /// - Returns: The entities and their groups.
  /// - Throws: As ``entities(matching:)``; `QueryError` `lostPlace` if the entity has been deleted, unless
  ///   `id` or the fields of a unique index are keys of the order, which tell its position without it.
  /// - Complexity: As ``entities(matching:)``; in natural order, or with an index in the order, from the
  ///   position of `entity` on. All matches are read if the query skips records, if the namespace has nodes
  ///   without a record of the type, or if a server has ordered the entities.
  public func entities<E: Queryable>(
    matching query: Query<E>, after entity: E?
  ) throws -> QueryResult<E> {
    guard let entity else { return try entities(matching: query) }
    let query = try resolved(query)
    guard try isToldByRows(query) else {
      return try query.window(of: try entities(matching: query.whole).entities, after: entity)
    }
    let stored = try stored(query, after: entity)
    let found = try models(of: E.self, matching: stored.query) { stored.value($0, of: $1) }
    return QueryResult(found, groupedBy: query.groupedBy)
  }

  /// Whether the records of the type, in the order of their rows, are all that the query needs.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - isInOrder: Whether natural order matters.
  /// - Returns: Whether they are.
  /// - Throws: `StoreError`.
  private func isToldByRows<E: Queryable>(
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
  /// Whether no two entities can have the same position in the order.
  ///
  /// - Parameter values: The values of an entity for the keys of the order, from ``EntitySorter``.
  /// - Returns: Whether `id`, or the fields of a unique index, are among the keys.
  func tellsApart(_ values: [QueryValue]) -> Bool {
    let fields = zip(order.prefix { $0.key != .natural }, values).compactMap { order, value in
      if case .field(let field, _) = order.key { (field: field, value: value) } else { nil }
    }
    return fields.contains(where: \.field.isIdentifier)
      || E.indexes.contains { $0.tellsApart(fields) }
  }

  /// Whether the order determines which entities are in the result.
  var hasWindow: Bool { limit != nil || offset > 0 || !uniqueBy.isEmpty }

  /// The query without groups, offset and limit.
  var whole: Query {
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

  /// The window after an entity, of an ordered result without offset and limit.
  func window(of ordered: [E], after entity: E) throws(QueryError) -> QueryResult<E> {
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
