import PandoModels
import PandoSystem

/// Searches for words in records, and their relevance.
extension QueryRun {
  /// The reason why no index of words is used; `nil` if one is, or if nothing is searched for.
  var missingWords: String? {
    guard let (fields, _) = query.searched,
      !indexes.contains(where: { index in fields.allSatisfy { index.hasWords(of: $0) } })
    else { return nil }
    let names = fields.compactMap { $0.path?.name }.joined(separator: ", ")
    return "no index has the words of \(names); declare .text(…), and call addIndexes(of:)"
  }

  /// Finds the words of fields of a record.
  mutating func scan(
    _ fields: [RecordField], _ body: Span<UInt8>, _ value: (RecordField) throws -> QueryValue
  ) throws -> WordScanner {
    var words = exchange(&scanner, with: nil) ?? WordScanner()
    words.removeAll()
    for field in fields {
      if case .named(let path) = field, path.mayHaveWords {
        try path.scanTexts(body, &words)
      } else {
        try value(field).scan(&words)
      }
    }
    scanner = words
    return words
  }

  /// The relevance for the search of the filter, by an index of words or by all records of the type.
  mutating func relevance(
    _ reader: borrowing StoreReader, _ source: SnapshotSource, _ computing: Computing
  ) throws -> WordRelevance? {
    guard let (fields, search) = query.searched else { return nil }
    if let index = indexes.first(where: { $0.holdsWords && $0.hasWords(of: fields) }) {
      return WordRelevance(try reader.wordCounts(of: index, search).statistics)
    }
    var statistics = WordStatistics(unitCounts: search.units.map { _ in 0 })
    var nodes = try reader.nodes(ofType: type)
    while let node = try nodes.next(reader) {
      let body = try reader.countedBody(of: RecordKey(type: type, node: node))
      do {
        let words = try scan(fields, body) {
          try Self.value($0, node, body, reader, source, computing)
        }
        statistics.count(words, search)
      } catch is SkippedRecord {
        continue
      }
    }
    return WordRelevance(statistics)
  }
}
