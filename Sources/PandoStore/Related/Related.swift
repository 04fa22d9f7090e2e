import PandoModels

/// A value for each entity of a result: an answer about the models that name it, or a list of them.
///
/// ```swift
/// let open = Query(filter: \Issue.isOpen == true)
/// let newest = Query<Comment>(order: [.descending(\.created)])
/// let rows = try store.find(
///   projects, with: .answer(.count, of: open, by: \.project), .first(of: newest, by: \.project))
/// for (project, (count, comment)) in rows { print(project.name, count, comment?.text ?? "") }
/// ```
/// `store.find(_:with:)` returns it, `store.follow(_:with:)` follows it. To select entities by the models that name
/// them, use `Filter.has(_:by:atLeast:)`.
///
/// A model names the entity by a key (`by: \.project`), by a child (`by: .child(\.project)`), or by the keys or children
/// of a list (`by: .each(\.projects)`, for answers only).
///
/// - Note: Any thread.
public struct Related<E: Queryable, Value: Sendable & Equatable>: Sendable {
  /// How it is asked for and followed.
  package let source: any RelatedSource<Value>

  private init(_ source: some RelatedSource<Value>) { self.source = source }
}

extension Related {
  /// The answer to a question about the models that name the entity.
  ///
  /// ```swift
  /// let rows = try store.find(projects, with: .answer(.sum(\Issue.hours), by: \.project))
  /// ```
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query for the models that count. An offset, a limit and `uniqueBy` apply to all models together, as
  ///     for a grouped question.
  ///   - keyPath: The key by which a model names the entity.
  /// - Returns: The answer for each entity. If no model names the entity, it is the answer about no models, such as 0.
  public static func answer<S: Queryable, Reference: ModelReference<E>>(
    _ question: Question<S, Value>, of query: Query<S> = .all,
    by keyPath: any KeyPath<S, Reference> & Sendable
  ) -> Related { answer(question, of: query, by: .field(keyPath)) }

  /// The answer to a question about the models that name the entity by a child, or by an element of a list.
  ///
  /// ```swift
  /// let rows = try store.find(teams, with: .answer(.count, by: .each(\Person.teams)))
  /// ```
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query for the models that count, as in the form for a key path.
  ///   - field: The field by which a model names the entity.
  /// - Returns: The answer for each entity, as in the form for a key path.
  public static func answer<S: Queryable, Reference: ModelReference<E>>(
    _ question: Question<S, Value>, of query: Query<S> = .all, by field: QuestionField<S, Reference>
  ) -> Related { Related(RelatedAnswer(question, of: query, by: field)) }

  /// The models that name the entity.
  ///
  /// ```swift
  /// let newest = Query<Comment>(order: [.descending(\.created)], limit: 3)
  /// let rows = try store.find(posts, with: .list(of: newest, by: \.post))
  /// ```
  /// - Parameters:
  ///   - query: The query for the models, with their order. Its offset and its limit apply to each entity. `uniqueBy`
  ///     throws `QueryError` `wrongType`.
  ///   - keyPath: The key by which a model names the entity.
  /// - Returns: The list for each entity.
  public static func list<S: Queryable, Reference: ModelReference<E>>(
    of query: Query<S> = .all, by keyPath: any KeyPath<S, Reference> & Sendable
  ) -> Related where Value == [S] { list(of: query, by: .field(keyPath)) }

  /// The models that name the entity by a child.
  ///
  /// - Parameters:
  ///   - query: The query for the models, as in the form for a key path.
  ///   - field: The field by which a model names the entity. A field with several values throws `QueryError`
  ///     `wrongType`.
  /// - Returns: The list for each entity.
  public static func list<S: Queryable, Reference: ModelReference<E>>(
    of query: Query<S> = .all, by field: QuestionField<S, Reference>
  ) -> Related where Value == [S] {
    Related(
      RelatedModels(query, by: field.field, limit: query.limit) {
        $0
      } areSame: {
        $0.count == $1.count && zip($0, $1).allSatisfy { $0.isSame(as: $1) }
      })
  }

  /// The first of the models that name the entity.
  ///
  /// ```swift
  /// let newest = Query<Comment>(order: [.descending(\.created)])
  /// let rows = try store.find(posts, with: .first(of: newest, by: \.post))
  /// ```
  /// - Parameters:
  ///   - query: The query for the models, with their order, as for ``list(of:by:)``.
  ///   - keyPath: The key by which a model names the entity.
  /// - Returns: The model for each entity; `nil` for an entity that none names.
  public static func first<S: Queryable, Reference: ModelReference<E>>(
    of query: Query<S> = .all, by keyPath: any KeyPath<S, Reference> & Sendable
  ) -> Related where Value == S? { first(of: query, by: .field(keyPath)) }

  /// The first of the models that name the entity by a child.
  ///
  /// - Parameters:
  ///   - query: The query for the models, with their order, as for ``list(of:by:)``.
  ///   - field: The field by which a model names the entity, as for ``list(of:by:)``.
  /// - Returns: The model for each entity; `nil` for an entity that none names.
  public static func first<S: Queryable, Reference: ModelReference<E>>(
    of query: Query<S> = .all, by field: QuestionField<S, Reference>
  ) -> Related where Value == S? {
    Related(
      RelatedModels(query, by: field.field, limit: min(query.limit ?? 1, 1)) {
        $0.first
      } areSame: { one, other in
        guard let one, let other else { return one == other }
        return one.isSame(as: other)
      })
  }
}

/// How a related value is asked for.
package protocol RelatedSource<Value>: Sendable {
  associatedtype Value: Sendable & Equatable

  /// Checks its query.
  func validate() throws(QueryError)

  /// Returns the values of entities.
  ///
  /// - Parameters:
  ///   - keys: The identifiers of the entities, as values.
  ///   - snapshot: The store.
  /// - Returns: The values, in the order of the entities.
  /// - Throws: As ``ModelSnapshot/answer(_:to:)`` and ``ModelSnapshot/find(_:)``.
  func values(of keys: [QueryValue], in snapshot: ModelSnapshot) throws -> [Value]
}

extension RelatedSource {
  /// A query for the models of some entities only, if these are few.
  func restricted<S>(_ query: Query<S>, _ field: QueryField<S>, to keys: [QueryValue]) -> Query<S> {
    guard keys.count <= relatedFilterMaximum, query.isUnbounded else { return query }
    var query = query
    query.filter = Filter(.isIn(field, QueryValueSet(keys))) && query.filter
    return query
  }
}

/// A filter names at most this many entities.
private let relatedFilterMaximum = 10_000

/// An answer about the models that name an entity.
package struct RelatedAnswer<S: Queryable, Value: Sendable & Equatable>: RelatedSource {
  /// The question for each entity; its answer is the tally of all groups.
  package let grouped: Question<S, Tally>
  /// The query for the models.
  package let query: Query<S>
  private let question: Question<S, Value>
  private let field: QueryField<S>

  init<Reference: ModelReference>(
    _ question: Question<S, Value>, of query: Query<S>, by field: QuestionField<S, Reference>
  ) {
    (self.question, self.query, self.field) = (question, query, field.field)
    grouped = Question(.groups(Grouping(fields: [field.part]), question.measure)) { $0 }
  }

  package func validate() throws(QueryError) { try query.validate() }

  /// Makes the answer for an entity.
  ///
  /// - Parameter tally: The tally of its group; `nil` if no model names it.
  /// - Returns: The answer.
  /// - Throws: ``QueryError`` as ``ModelSnapshot/answer(_:to:)``.
  package func answer(_ tally: Tally?) throws(QueryError) -> Value {
    guard let tally else { return try question.answer([S]()) }
    return try question.answer(tally)
  }

  package func values(of keys: [QueryValue], in snapshot: ModelSnapshot) throws -> [Value] {
    let groups = try snapshot.answer(grouped, to: query(of: keys)).groups
    return try keys.map { try answer(groups[.one($0)]) }
  }

  /// The query for the models of some entities, and perhaps of others.
  func query(of keys: [QueryValue]) -> Query<S> { restricted(query, field, to: keys) }
}

/// The models that name an entity.
package struct RelatedModels<S: Queryable, Value: Sendable & Equatable>: RelatedSource {
  /// The query for the models of all entities, ordered by these first.
  package let query: Query<S>
  private let field: QueryField<S>
  private let own: Query<S>
  private let limit: Int?
  private let make: @Sendable ([S]) -> Value
  /// Whether two values are equal, with the same bytes in their texts.
  package let areSame: @Sendable (Value, Value) -> Bool

  init(
    _ query: Query<S>, by field: QueryField<S>, limit: Int?,
    _ make: @escaping @Sendable ([S]) -> Value,
    areSame: @escaping @Sendable (Value, Value) -> Bool
  ) {
    own = query
    (self.field, self.limit, self.make, self.areSame) = (field, limit, make, areSame)
    var all = query
    all.order.insert(QueryOrder(key: .field(field, isDescending: false)), at: 0)
    (all.offset, all.limit, all.groupedBy) = (0, nil, nil)
    self.query = all
  }

  package func validate() throws(QueryError) {
    try own.validate()
    guard own.uniqueBy.isEmpty else {
      throw QueryError(
        .wrongType, S.modelTypeName,
        "the related models of an entity can't be made unique by a field")
    }
    try query.validate()
  }

  /// The number of models of an entity that its value depends on.
  package var mostRead: Int {
    limit.map { own.offset.addingReportingOverflow($0) }
      .flatMap { $0.overflow ? nil : $0.partialValue } ?? .max
  }

  /// Makes the value of an entity from its first models.
  ///
  /// - Parameters:
  ///   - count: The number of its models, at least those that the value depends on.
  ///   - model: Returns the model at a position; `nil` if it can't be decoded.
  /// - Returns: The value.
  package func value(of count: Int, _ model: (Int) -> S?) -> Value {
    let start = min(own.offset, count)
    let end = limit.map { min($0, count - start) + start } ?? count
    return make((start..<end).compactMap(model))
  }

  package func values(of keys: [QueryValue], in snapshot: ModelSnapshot) throws -> [Value] {
    if limit != nil, try findsEach(in: snapshot) {
      return try keys.map { key in
        var one = own
        one.filter = Filter(.compare(field, .equal, key)) && own.filter
        one.limit = limit
        one.groupedBy = nil
        return make(try snapshot.find(one).entities)
      }
    }
    var models: [QueryValue: [S]] = [:]
    for model in try snapshot.find(restricted(query, field, to: keys)).entities {
      models[field.value(model), default: []].append(model)
    }
    return keys.map { key in
      let own = models[key] ?? []
      return value(of: own.count) { own[$0] }
    }
  }

  /// Whether an index finds the first models of one entity.
  private func findsEach(in snapshot: ModelSnapshot) throws -> Bool {
    var one = own
    one.filter = Filter(.compare(field, .equal, .string("a"))) && own.filter
    one.limit = limit
    guard let name = field.name, case .index(let index, _, _) = try snapshot.explain(one).access
    else { return false }
    return index == name || index.hasPrefix(name + ",")
  }
}
