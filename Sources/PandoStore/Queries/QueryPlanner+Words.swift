import PandoModels

extension QueryPlanner {
  /// The index of words that has all fields of a search; without others, if there is such a one.
  func wordIndex(of fields: [RecordField]) -> StoredIndex? {
    indexes.first { $0.holdsWords && $0.hasWords(of: fields) }
      ?? indexes.first { index in index.holdsWords && fields.allSatisfy(index.hasWords) }
  }

  /// The window of a filter that is a search, if its order is by relevance, or if it has none.
  func windowOfWords(_ reader: borrowing StoreReader) throws -> Choice? {
    guard case .search(let fields, let search) = query.filter, search.needsWordsOnly,
      !search.units.isEmpty, query.uniqueBy.isEmpty, query.after == nil, !leavesOut,
      let index = wordIndex(of: fields), index.hasWords(of: fields)
    else { return nil }
    if query.order.isEmpty, query.limit != nil {
      let matches = try WordMatches(
        search, index, limit: query.target, isRanked: false, reader)
      return .candidates(.words(index, search), nodes: matches.nodes, isExact: true)
    }
    guard query.order.count == 1, query.order[0].isRelevance else { return nil }
    let matches = try WordMatches(search, index, limit: .max, isRanked: true, reader)
    return .ranked(.words(index, search), nodes: matches.mostRelevant(query.target))
  }
}

extension StoredIndex {
  /// Whether it has the words of these fields and of no others.
  func hasWords(of fields: [RecordField]) -> Bool {
    self.fields[0].sources.count == Set(fields).count && fields.allSatisfy(hasWords)
  }

  /// Whether it has the words of a field.
  func hasWords(of field: RecordField) -> Bool {
    if case .named(let path) = field { self.fields[0].sources.contains(path) } else { false }
  }

  /// The names of the fields whose words it has.
  var wordFields: String { fields[0].sources.map(\.name).joined(separator: ", ") }
}
