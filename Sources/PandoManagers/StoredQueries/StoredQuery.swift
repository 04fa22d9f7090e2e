import PandoModels
public import PandoStore
import PandoSystem

/// A typed query in the form of the store: fields by name, identifiers as texts, and computed fields by
/// number.
package struct StoredQuery<E: Queryable> {
  package var query = RecordQuery(typeName: E.modelTypeName)
  /// The fields whose values are read from the decoded entity.
  private var computed: [QueryField<E>] = []
  /// The fields whose names are not proven in this process.
  private(set) var open: [DeclaredField] = []

  package init(_ typed: Query<E>) throws(QueryError) {
    try typed.validate()
    query.filter = filter(typed.filter.tree)
    query.offset = typed.offset
    query.limit = typed.limit
    // A check is cheaper than mapping empty arrays, which most queries have.
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
    // Proven here, or in the first fields of a type that makes its fields each time.
    if field.declared?.isProven == false, let declared = E.declaredFields.open(path.name) {
      open.append(declared)
    }
    // A child whose type only instances tell may have a default or a former name.
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

  /// The identifier of the one node of a query that has no other part than an identifier with a text key.
  fileprivate var plainIdentifier: String? {
    guard case .compare(let field, .equal, .string(let text)) = filter.tree,
      let namespace = field.textNamespace, offset == 0, limit == nil, !skipsUndecodable,
      !text.isEmpty, text != EntityIdentifierText.localPrefix
    else { return nil }
    return EntityIdentifierText.modelIdentifier(text, in: namespace)
  }
}

extension ModelSnapshot {
  /// Returns the entities of a query.
  ///
  /// Conditions on indexed fields use their indexes. For the others the records are read, most of them
  /// without decoding. Natural order is the server's order if it is known, else the order of the inserts.
  /// Nodes of the namespace that have records of other types only are all decoded and compared.
  ///
  /// - Parameter query: The query.
  /// - Returns: The entities and their groups.
  /// - Throws: `QueryError` as `validate()`; `ModelError` with identifier, type and field if an entity of the
  ///   result can't be decoded and the query does not skip it; ``StoreError`` for damaged bytes on disk.
  /// - Complexity: O(log *n* + *m*) for *m* records in the range of an index, O(*n*) for a scan. If a server
  ///   has ordered the entities, all matches are read, unless `id` is a key of the order.
  public func entities<E: Queryable>(matching query: Query<E>) throws -> QueryResult<E> {
    let hasOthers = !NamespaceTypes.others(of: E.self).isEmpty
    if hasOthers { return try entitiesAmongOthers(query) }
    guard let identifier = query.plainIdentifier else { return try plannedEntities(query) }
    let found = try recordedModels(identifier, as: E.self)
    return query.isGrouped
      ? QueryResult(found, groupedBy: query.groupedBy) : QueryResult(ungrouped: found)
  }

  /// Returns the entities of a query with other parts than an identifier.
  ///
  /// A function of its own, because a function loads the metadata of all its types when it begins.
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

  /// Whether the query needs a natural order that differs from that of the node numbers.
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

  /// Returns the entities of a query; equal ones are in the order of their node numbers.
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

  /// A query whose unproven fields have been compared with records.
  func proven<E: Queryable>(_ query: Query<E>) throws -> StoredQuery<E> {
    try proven(query) { _ in }.query
  }

  /// The same, with another value made from the stored query.
  func proven<E: Queryable, Asked>(
    _ query: Query<E>, _ ask: (inout StoredQuery<E>) throws -> Asked
  ) throws -> (query: StoredQuery<E>, asked: Asked) {
    var stored = try StoredQuery(query)
    var asked = try ask(&stored)
    if !stored.open.isEmpty {
      try prove(stored.open, of: E.self)
      // The records may have changed what is known about the fields.
      stored = try StoredQuery(query)
      asked = try ask(&stored)
    }
    return (stored, asked)
  }

  /// Returns the entities of a query if nodes without a record of the type may match.
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

  /// Answers a query from entities in any order.
  func inNaturalOrder<E: Queryable>(_ entities: [E], _ query: Query<E>) throws -> QueryResult<E> {
    let ranks = try entities.map { try naturalRank(of: $0.modelIdentifier ?? "") ?? 0 }
    return try query.apply(
      to: entities.indices.ordered { ranks[$0] < ranks[$1] }.map { entities[$0] })
  }

  /// Returns the plan for a query.
  ///
  /// - Parameter query: The query.
  /// - Returns: The plan.
  /// - Throws: `QueryError` as `validate()`; ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(*r*) for *r* index rows, counted to choose an index. Up to 64 records are decoded for
  ///   each field whose name is not proven in this process.
  public func explain<E: Queryable>(_ query: Query<E>) throws -> QueryPlan {
    let query = try resolved(query)
    let stored = try proven(query)
    var plan = try plan(
      for: stored.query, withNodesOf: NamespaceTypes.others(of: E.self),
      identifierCount: query.nodeIdentifiers?.count)
    if plan.reason == nil { plan.reason = try missingIndex(for: query) }
    return plan
  }

  /// The index that a type declares for a field of the query and the store lacks.
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
  /// Returns the plan for a query now.
  ///
  /// - Parameter query: The query.
  /// - Returns: The plan.
  /// - Throws: `QueryError` as `validate()`; ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: As `ModelSnapshot.explain(_:)`.
  public func explain<E: Queryable>(_ query: Query<E>) throws -> QueryPlan {
    try read { try $0.explain(query) }
  }

  /// Adds the declared indexes of entity types that the store lacks.
  ///
  /// Rows have the values that the type reads, with former names and defaults. If these declarations have
  /// changed, the rows are made again. Other indexes stay, unless `dropping` says otherwise. Existing indexes
  /// stay as they are if a program of a newer schema version has written the type.
  ///
  /// ```swift
  /// try store.addIndexes(of: [Book.self], dropping: .undeclared)
  /// ```
  /// - Parameters:
  ///   - types: The types.
  ///   - dropping: The indexes of these types to remove.
  /// - Returns: The number of indexes made, or made again.
  /// - Throws: As ``ModelTransaction/addIndex(on:ofType:unique:)``; `QueryError` `unknownField` for an
  ///   `EntityIndex` with an undeclared key path.
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

  /// The indexes to make, or make again, and those to drop.
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
      // The present indexes are those of a newer program.
      if try snapshot.hasNewerSchema(than: type) { continue }
      for index in present {
        if dropping == .undeclared, index.isUndeclared {
          // A declared index of the same fields replaces it.
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

/// The indexes that `addIndexes(of:dropping:)` removes.
///
/// ```swift
/// try store.addIndexes(of: [Book.self], dropping: .undeclared)
/// ```
public enum IndexDropping: Sendable, Hashable {
  /// No index.
  case nothing
  /// Indexes that the given types do not declare: see `ModelIndex.isUndeclared`.
  ///
  /// Do not use it while other programs need their own indexes of these types.
  case undeclared
}

extension Queryable {
  /// The declared indexes: of single fields, and of several.
  package static var declaredIndexes: [ModelIndex] { (try? requireIndexes()) ?? [] }

  /// The same; throws for an undeclared field.
  fileprivate static func requireIndexes() throws(QueryError) -> [ModelIndex] {
    var all = fields.filter(\.isIndexed)
      .map { ModelIndex(typeName: modelTypeName, paths: [$0.path], isUnique: false) }
    for index in indexes { all.append(try index.stored()) }
    return all
  }

  /// Compares the fields of indexes with stored records.
  fileprivate static func prove(_ indexes: [ModelIndex], _ snapshot: ModelSnapshot) throws {
    let names = indexes.filter { $0.typeName == modelTypeName }.map(\.field)
    try snapshot.prove(names.compactMap(declaredFields.open), of: Self.self)
  }
}
