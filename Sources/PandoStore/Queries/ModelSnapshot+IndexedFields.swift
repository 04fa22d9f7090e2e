extension ModelSnapshot {
  /// The same query with the fields of the type's indexes.
  ///
  /// It serves tools without Swift types. If the index of a field has former names or a default,
  /// the query also finds records without the present name. It reads decimals and durations like the
  /// type that declares the index.
  package func byIndexedFields(_ query: RecordQuery) throws -> RecordQuery {
    let indexed = try indexedField(ofType: query.typeName)
    var query = query
    query.filter = query.filter.mapped(indexed)
    query.order = query.order.map { order in
      guard case .field(let field, let isDescending) = order else { return order }
      return .field(indexed(field), isDescending: isDescending)
    }
    return query
  }

  /// The fields of a row as ``byIndexedFields(_:)`` reads those of a query.
  package func byIndexedFields(
    _ fields: [RecordField], ofType typeName: String
  ) throws -> [RecordField] { try fields.map(indexedField(ofType: typeName)) }

  private func indexedField(ofType typeName: String) throws -> (RecordField) -> RecordField {
    let indexes = try reader.directory.catalog.type(named: typeName, in: reader).indexes
    let fields = indexes.flatMap { $0.fields + $0.fields[0].sources }.filter { !$0.isPlainlyRead }
    return { field in
      guard case .named(let path) = field,
        let found = fields.first(where: { $0.hasSameName(as: path) })
      else { return field }
      return .named(found)
    }
  }
}

extension ModelSnapshot {
  /// The same query with a search for words, by relevance unless it has an order.
  ///
  /// - Returns: `nil` without an index of words of the type.
  package func searching(_ text: String, _ query: RecordQuery) throws -> RecordQuery? {
    let indexes = try reader.directory.catalog.type(named: query.typeName, in: reader).indexes
    guard let index = indexes.first(where: \.holdsWords) else { return nil }
    let fields = index.fields[0].sources.map { RecordField.named($0) }
    let search = FilterTree.search(fields, WordSearch(text))
    var query = query
    if case .all = query.filter {
      query.filter = search
    } else {
      query.filter = .and([search, query.filter])
    }
    if query.order.isEmpty { query.order = [.relevance] }
    return query
  }
}

extension FilterTree {
  /// The same filter over other fields.
  fileprivate func mapped(_ field: (Field) -> Field) -> FilterTree {
    switch self {
    case .all: .all
    case .compare(let one, let comparison, let value): .compare(field(one), comparison, value)
    case .isIn(let one, let values): .isIn(field(one), values)
    case .pattern(let one, let pattern): .pattern(field(one), pattern)
    case .prefix(let one, let prefix): .prefix(field(one), prefix)
    case .part(let one, let part): .part(field(one), part)
    case .search(let some, let search): .search(some.map(field), search)
    case .and(let parts): .and(parts.map { $0.mapped(field) })
    case .or(let parts): .or(parts.map { $0.mapped(field) })
    case .not(let part): .not(part.mapped(field))
    }
  }
}
