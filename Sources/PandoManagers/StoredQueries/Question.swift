import PandoModels
public import PandoStore
import PandoSystem

/// What is asked about the entities that a query gives, instead of them.
///
/// It is answered about exactly those: uniqueness, offset and limit of the query count. What an index
/// or the stored bytes can say is not decoded.
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

  /// How many there are: `count`.
  public static var count: Question { Question(kind: .count) }

  /// Whether there is any: `count` is 1 if so, else 0.
  public static var exists: Question { Question(kind: .exists) }

  /// The sum of a field that holds numbers: `value`.
  ///
  /// Null and not-a-number do not count; of nothing it is 0. Integers are added exactly, others in the
  /// order of the query.
  ///
  /// - Parameter keyPath: Where the number is in the entity.
  /// - Returns: The question.
  public static func sum<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { Question(kind: .sum(QueryField(keyPath))) }

  /// The lowest value of a field: `value`; null and not-a-number do not count.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  /// - Returns: The question.
  public static func min<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { Question(kind: .minimum(QueryField(keyPath))) }

  /// The highest value of a field: `value`; null and not-a-number do not count.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  /// - Returns: The question.
  public static func max<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { Question(kind: .maximum(QueryField(keyPath))) }

  /// Which values a field has, and how many entities have each: `counts`, in the order of
  /// values.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  /// - Returns: The question.
  public static func counts<Value: QueryRepresentable>(
    by keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { Question(kind: .counts(QueryField(keyPath))) }

  /// Which values a field has, each once: `values`, in their order.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  /// - Returns: The question.
  public static func distinct<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { counts(by: keyPath) }

  /// Answers from the entities that a query gave.
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

  /// Checks what the compiler could not.
  func validate() throws(QueryError) {
    guard case .sum(let field) = kind, !field.kinds.contains(.number) else { return }
    throw QueryError(
      .wrongType, field.label,
      "only numbers have a sum, and this field of \(E.modelTypeName) holds none")
  }
}

extension StoredQuery {
  /// A question by the fields of this query.
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
  /// Answers a question about the entities that a query gives, without decoding them.
  ///
  /// How many match a filter that an index tells exactly is a count of its rows; two indexes that tell
  /// it together are intersected; the lowest and the highest value of an indexed field stand at an end
  /// of its index. Else the stored bodies are looked at. ``explain(_:to:)`` says which it is.
  ///
  /// ```swift
  /// let open = Query(filter: \Issue.status == .open)
  /// let newest = try store.read { try $0.answer(.max(\.created), to: open).value }
  /// ```
  /// - Parameters:
  ///   - question: What is asked.
  ///   - query: About which entities.
  /// - Returns: The answer.
  /// - Throws: `QueryError` as `validate()`, and `wrongType` for the sum of a field without
  ///   numbers; `StoreError` when the bytes on disk are damaged; `ModelError` where an entity has to be
  ///   decoded and can't be: for key paths that are not declared.
  /// - Complexity: O(1) to count all records, O(log *n* + *p*) to count rows of an index on *p* pages,
  ///   O(log *n*) for the lowest or highest value of an indexed field. Else as ``entities(matching:)``, as a
  ///   rule without decoding.
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

  /// Says how a question about the entities of a query is answered.
  ///
  /// - Parameters:
  ///   - question: What is asked.
  ///   - query: About which entities.
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

  /// Returns the identifiers of the entities that a query gives, in its order, without decoding them.
  ///
  /// - Parameters:
  ///   - query: The query; its groups do not matter.
  ///   - entity: The last one that was shown, as in ``entities(matching:after:)``.
  /// - Returns: The identifiers.
  /// - Throws: As ``entities(matching:after:)``.
  /// - Complexity: As ``modelIdentifiers(matching:after:)``.
  public func identifiers<E: Entity>(
    matching query: Query<E>, after entity: E? = nil
  ) throws -> [EntityIdentifier<E>] {
    try modelIdentifiers(matching: query, after: entity)
      .compactMap { EntityIdentifier(modelIdentifier: $0) }
  }

  /// Returns the identifiers of the nodes that a query gives, in its order, without decoding them.
  ///
  /// - Parameters:
  ///   - query: The query; its groups do not matter.
  ///   - model: The last one that was shown, as in ``entities(matching:after:)``.
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

  /// Returns the entities of a query that come after one that was shown: the next page.
  ///
  /// What counts is the place of that entity in the order of the query, by its values as they were
  /// shown and, among equal ones, by the natural order. So nothing comes twice and nothing is left out,
  /// whatever is inserted meanwhile. Offset and limit are counted from there.
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
  ///   - entity: The last one that was shown; `nil` for the first page.
  /// - Returns: The entities and their groups.
  /// - Throws: As ``entities(matching:)``; `QueryError` `lostPlace` if the entity has been deleted, unless
  ///   `id`, or the fields of a unique index, are keys of the order: only then its place among equal ones is known
  ///   without it.
  /// - Complexity: As ``entities(matching:)``; in natural order, and where an index has the order, from the
  ///   place of `entity` on. All that matches is read for a query that skips records, if the namespace has
  ///   nodes without a record of the type, and where a server has ordered the entities.
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

  /// Whether the records of the type, as they lie, are all that the query is about.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - isInOrder: Whether their natural order counts.
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

  /// The part of an ordered result, given without offset and limit, that comes after an entity.
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
