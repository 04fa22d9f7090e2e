import PandoModels
public import PandoStore
import PandoSystem

/// A typed query as the store answers it: fields by their stored names, identifiers as texts, and what
/// only the entity itself can tell by numbers.
package struct StoredQuery<E: Queryable> {
  package var query = RecordQuery(typeName: E.modelTypeName)
  /// The fields that have to be looked at in the decoded entity.
  private var computed: [QueryField<E>] = []
  /// The fields of which nothing in this process has told yet that they are named rightly.
  private(set) var open: [DeclaredField] = []

  package init(_ typed: Query<E>) throws(QueryError) {
    try typed.validate()
    query.filter = filter(typed.filter.tree)
    query.offset = typed.offset
    query.limit = typed.limit
    // Most queries have neither; to go through nothing costs more than to ask.
    if !typed.uniqueBy.isEmpty { query.uniqueBy = typed.uniqueBy.map { field($0) } }
    if typed.order.isEmpty { return }
    query.order = typed.order.prefix { $0.key != .natural }.map { order in
      switch order.key {
      case .natural: preconditionFailure("the natural order has been left out")
      case .field(let field, let isDescending):
        return .field(self.field(field), isDescending: isDescending)
      case .identifiers(let ids):
        return .identifiers(
          Dictionary(zip(ids, ids.indices), uniquingKeysWith: { first, _ in first }))
      }
    }
  }

  /// The value of a computed field.
  package func value(_ number: Int, of entity: E) -> QueryValue { computed[number].value(entity) }

  private mutating func filter(
    _ tree: FilterTree<QueryField<E>>
  ) -> FilterTree<RecordField> {
    switch tree {
    case .all: .all
    case .compare(let field, .equal, let value) where field.isIdentifier:
      .isIn(.identifier, Self.identifiers([value]))
    case .isIn(let field, let values) where field.isIdentifier:
      .isIn(.identifier, Self.identifiers(values.values))
    case .compare(let field, let comparison, let value):
      .compare(self.field(field), comparison, value)
    case .isIn(let field, let values): .isIn(self.field(field), values)
    case .pattern(let field, let pattern): .pattern(self.field(field), pattern)
    case .prefix(let field, let prefix): .prefix(self.field(field), prefix)
    case .and(let parts): .and(parts.map { filter($0) })
    case .or(let parts): .or(parts.map { filter($0) })
    case .not(let part): .not(filter(part))
    }
  }

  private static func identifiers(_ values: [QueryValue]) -> QueryValueSet {
    QueryValueSet(values.compactMap { E.nodeIdentifier(of: $0).map { .string($0) } })
  }

  mutating func field(_ field: QueryField<E>) -> RecordField {
    if field.namesAllChildren { return .children }
    guard let path = field.path else {
      return field.namesOwnChildren
        ? .computedChild(number(of: field)) : .computed(number(of: field), stored: nil)
    }
    // Proven here, or, where a type makes its fields anew each time, in the first ones.
    if field.declared?.isProven == false, let declared = E.declaredFields.open(path.name) {
      open.append(declared)
    }
    // A child of a type that only instances tell may have a default or a former name.
    if !path.isResolved, E.declaredFields.mayBeElsewhereInChild(path.name) {
      return .computed(number(of: field), stored: path)
    }
    return field.namesChildren ? .child(path) : .named(path)
  }

  private mutating func number(of field: QueryField<E>) -> Int {
    if let number = computed.firstIndex(of: field) { return number }
    computed.append(field)
    return computed.count - 1
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

extension ModelSnapshot {
  /// Returns the entities that a query asks for.
  ///
  /// What the filter says of indexed fields is answered from their indexes, the rest by looking at the
  /// records, most of which need not be decoded. Natural order is the order in which the store first
  /// saw the entities. Nodes of the namespace that have records of other types only are decoded, all of
  /// them, and compared then.
  ///
  /// - Parameter query: The query.
  /// - Returns: The entities and their groups.
  /// - Throws: `QueryError` as `validate()`; `ModelError` that names identifier, type and
  ///   field when an entity of the result can't be decoded any more and the query does not skip it;
  ///   ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n* + *m*) for *m* records between the places of an index, O(*n*) for a scan. Where a
  ///   server has ordered the entities, all that matches is read, unless `id` is a key of the order.
  public func entities<E: Queryable>(matching query: Query<E>) throws -> QueryResult<E> {
    let hasOthers = !NamespaceTypes.others(of: E.self).isEmpty
    if hasOthers { return try entitiesAmongOthers(query) }
    guard let identifier = query.plainIdentifier else { return try plannedEntities(query) }
    let found = try recordedModels(identifier, as: E.self)
    return query.isGrouped
      ? QueryResult(found, groupedBy: query.groupedBy) : QueryResult(ungrouped: found)
  }

  /// Returns the entities of a query with more parts than an identifier.
  ///
  /// Apart, because a function finds out at its beginning about all types that it may need.
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
    let isTotal = query.order.contains { order in
      switch order.key {
      case .field(let field, _): field.isIdentifier
      case .identifiers: true
      case .natural: false
      }
    }
    return try !isTotal && isArranged(E.modelTypeName)
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

  /// A query whose fields have been compared with records, as far as nothing has told of them yet.
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

  /// Says how a query is answered.
  ///
  /// - Parameter query: The query.
  /// - Returns: The plan.
  /// - Throws: `QueryError` as `validate()`; ``StoreError`` when the bytes on disk are
  ///   damaged.
  /// - Complexity: O(*r*) for *r* rows of indexes, which are counted to choose between them. Up to 64 records
  ///   are decoded for each field that this process has not seen yet to be named rightly.
  public func explain<E: Queryable>(_ query: Query<E>) throws -> QueryPlan {
    let query = try resolved(query)
    let stored = try proven(query)
    var plan = try plan(
      for: stored.query, withNodesOf: NamespaceTypes.others(of: E.self),
      identifierCount: query.nodeIdentifiers?.count)
    if plan.reason == nil { plan.reason = try missingIndex(for: query) }
    return plan
  }

  /// Says which index that a type declares for a field of a query the store lacks.
  private func missingIndex<E: Queryable>(for query: Query<E>) throws -> String? {
    var names = query.filter.tree.fields.compactMap(\.name)
    for order in query.order {
      if case .field(let field, _) = order.key, let name = field.name { names.append(name) }
    }
    let wanted = E.declaredIndexes.filter { names.contains($0.fields[0]) }
    if wanted.isEmpty { return nil }
    let present = Set(try indexes(ofType: E.modelTypeName).map(\.fields))
    return wanted.first { !present.contains($0.fields) }.map { index in
      "the store lacks the index on \(index.field) that \(index.typeName) declares; "
        + "addIndexes(of:) makes it"
    }
  }
}

extension ModelStore {
  /// Says how a query would be answered now.
  ///
  /// - Parameter query: The query.
  /// - Returns: The plan.
  /// - Throws: `QueryError` as `validate()`; ``StoreError`` when the bytes on disk are
  ///   damaged.
  /// - Complexity: As `ModelSnapshot.explain(_:)`.
  public func explain<E: Queryable>(_ query: Query<E>) throws -> QueryPlan {
    try read { try $0.explain(query) }
  }

  /// Makes the indexes that entity types declare, where the store lacks them.
  ///
  /// What a type declares of former names and defaults counts: the rows show each record as the type reads
  /// it. If the declarations have changed since an index was made, its rows are made anew. Other indexes
  /// stay, whoever made them, unless `dropping` says otherwise. Indexes that are there stay as they are if a
  /// program of a newer schema version has written the type.
  ///
  /// ```swift
  /// try store.addIndexes(of: [Book.self], dropping: .undeclared)
  /// ```
  /// - Parameters:
  ///   - types: The types.
  ///   - dropping: Which indexes of these types are removed.
  /// - Returns: How many were made, or made anew.
  /// - Throws: As ``ModelTransaction/addIndex(on:ofType:unique:)``; `QueryError` `unknownField` for an
  ///   `EntityIndex` of a key path that is no declared field.
  /// - Complexity: O(*n* log *n*) for *n* records of a type that gets or loses an index.
  @discardableResult
  public func addIndexes(
    of types: [any Queryable.Type], dropping: IndexDropping = .nothing
  ) throws -> Int {
    let (made, dropped) = try read { snapshot in
      try changes(for: types, dropping, snapshot)
    }
    guard !made.isEmpty || !dropped.isEmpty else { return 0 }
    return try write { transaction in
      for index in dropped { try transaction.dropIndex(on: index.fields, ofType: index.typeName) }
      var count = 0
      for index in made where try transaction.addIndex(index) { count += 1 }
      return count
    }
  }

  /// Which indexes are to be made, maybe anew, and which are to be dropped.
  private func changes(
    for types: [any Queryable.Type], _ dropping: IndexDropping, _ snapshot: ModelSnapshot
  ) throws -> (made: [ModelIndex], dropped: [ModelIndex]) {
    var made: [ModelIndex] = []
    var dropped: [ModelIndex] = []
    for type in types {
      let wanted = try type.requireIndexes()
      try snapshot.noteDeclaredIndexes(wanted, of: type)
      let present = try snapshot.indexes(ofType: type.modelTypeName)
      let missing = wanted.filter { !present.contains($0) }
      try type.prove(missing, snapshot)
      made += missing
      // The other indexes are those of a newer program.
      if try snapshot.hasNewerSchema(than: type) { continue }
      for index in present {
        if dropping == .undeclared, index.isUndeclared {
          // One of the same fields that is declared takes its place.
          dropped.append(index)
          continue
        }
        let read = try snapshot.index(index, asReadBy: type.declaredFields)
        if read.fallbacks != index.fallbacks { made.append(read) }
      }
    }
    return (made, dropped)
  }
}

/// Which indexes `addIndexes(of:dropping:)` removes.
///
/// ```swift
/// try store.addIndexes(of: [Book.self], dropping: .undeclared)
/// ```
public enum IndexDropping: Sendable, Hashable {
  /// None.
  case nothing
  /// Those of the given types that their types do not declare, whoever made them: see
  /// `ModelIndex.isUndeclared`.
  ///
  /// Do not use it while other programs need indexes of their own on these types.
  case undeclared
}

extension Queryable {
  /// The indexes that the type declares: of the fields that are indexed, and of several together.
  package static var declaredIndexes: [ModelIndex] { (try? requireIndexes()) ?? [] }

  /// The same, which throws if one names what is no field.
  fileprivate static func requireIndexes() throws(QueryError) -> [ModelIndex] {
    var all = fields.filter(\.isIndexed)
      .map { ModelIndex(typeName: modelTypeName, paths: [$0.path], isUnique: false) }
    for index in indexes { all.append(try index.stored()) }
    return all
  }

  /// Compares the fields of indexes with records that are there.
  fileprivate static func prove(_ indexes: [ModelIndex], _ snapshot: ModelSnapshot) throws {
    let names = indexes.filter { $0.typeName == modelTypeName }.map(\.field)
    try snapshot.prove(names.compactMap(declaredFields.open), of: Self.self)
  }
}
