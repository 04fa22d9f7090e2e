import PandoLMDB
import PandoModels

/// Records among which all that match must be; what is found there is still compared with the filter.
indirect enum QueryCandidates: Equatable {
  /// Nodes by identifier, each once.
  case identifiers([String])
  /// Rows of an index.
  case rows(StoredIndex, [IndexRange])
  /// All of several; each must be looked at.
  case union([QueryCandidates])
}

/// Decides how a query is answered.
///
/// Candidates are derived from the filter: a comparison with an indexed field is a range of rows, `and`
/// narrows ranges and leaves a choice, `or` needs candidates for each part. The choice goes to the
/// fewest rows, counted as far as it matters; where that is a good part of all records, a scan in the
/// order of the table is faster.
struct QueryPlanner {
  /// Of how many records one must be a candidate for a scan to be faster.
  private static let scanShare = 3
  /// Up to how many candidates are always looked up.
  private static let fewCandidates = 64

  private let query: RecordQuery
  private let indexes: [StoredIndex]
  let recordCount: Int

  init(_ query: RecordQuery, _ type: QueriedType) {
    self.query = query
    recordCount = type.recordCount
    indexes = type.indexes
  }

  /// How the candidates are gone through.
  enum Choice {
    case nothing
    ///
    /// `nodes` are they, in any order and perhaps twice, unless they are given by identifier;
    /// `isExact` if all of them match.
    case candidates(QueryCandidates, nodes: [UInt64], isExact: Bool)
    /// In the order of an index, until the window is full.
    case ordered(StoredIndex, [IndexRange], isDescending: Bool, isExact: Bool)
    case scan
  }

  func choice(_ reader: borrowing StoreReader) throws -> Choice {
    if query.target == 0 { return .nothing }
    let alternatives = try alternatives(query.filter, reader)
    if alternatives.contains(where: \.isEmpty) { return .nothing }
    if let direct = alternatives.first(where: \.isIdentifiers) {
      return .candidates(direct, nodes: [], isExact: false)
    }
    let limit = max(Self.fewCandidates, recordCount / Self.scanShare)
    var best: (candidates: QueryCandidates, nodes: [UInt64])?
    for candidates in alternatives {
      let cap = min(best?.nodes.count ?? limit, limit)
      var nodes: [UInt64] = []
      nodes.reserveCapacity(min(cap, Self.fewCandidates))
      try collect(candidates, upTo: cap, into: &nodes, reader)
      if nodes.count < cap { best = (candidates, nodes) }
    }
    let looked: Choice? = best.map { best in
      .candidates(best.candidates, nodes: best.nodes, isExact: isExact(best.candidates))
    }
    guard query.limit != nil, let ordered = orderedChoice(alternatives) else {
      return looked ?? .scan
    }
    guard let best, let looked else { return ordered }
    if case .ordered(let index, let ranges, _, _) = ordered,
      best.candidates == .rows(index, ranges)
    {
      return ordered
    }
    // Of records that match by chance, one in `recordCount / best.nodes.count`, the order's index has
    // to pass this many.
    let passed = Double(query.target) * Double(recordCount) / Double(max(best.nodes.count, 1))
    return Double(best.nodes.count) <= max(passed, Double(Self.fewCandidates)) ? looked : ordered
  }

  /// Going through the index of the first key of the order, if there is one.
  private func orderedChoice(_ alternatives: [QueryCandidates]) -> Choice? {
    guard query.uniqueBy.isEmpty,
      case .field(.named(let path), let isDescending)? = query.order.first,
      let index = index(of: path)
    else { return nil }
    for case .rows(index, let ranges) in alternatives {
      return .ordered(
        index, ranges, isDescending: isDescending, isExact: isExact(.rows(index, ranges)))
    }
    return .ordered(
      index, [.everything], isDescending: isDescending, isExact: query.filter == .all)
  }

  /// Whether all candidates match: the filter speaks of their index alone, and of whole values.
  private func isExact(_ candidates: QueryCandidates) -> Bool {
    guard case .rows(let index, _) = candidates else { return false }
    return isExact(query.filter, index)
  }

  private func isExact(_ filter: FilterTree<RecordField>, _ index: StoredIndex) -> Bool {
    switch filter {
    case .all, .not, .pattern: false
    case .compare(let field, let comparison, let value):
      field == .named(index.field) && comparison != .notEqual && !IndexValue.cutsOff(value)
    case .isIn(let field, let values):
      field == .named(index.field) && !values.values.contains { IndexValue.cutsOff($0) }
    case .prefix(let field, let prefix):
      field == .named(index.field) && !IndexValue.cutsOff(.string(prefix))
    case .and(let parts), .or(let parts): parts.allSatisfy { isExact($0, index) }
    }
  }

  private func index(of path: FieldPath) -> StoredIndex? { indexes.first { $0.field == path } }

  /// Candidates for a filter, any of which will do; none if the filter says nothing that an index knows.
  private func alternatives(
    _ filter: FilterTree<RecordField>, _ reader: borrowing StoreReader
  ) throws -> [QueryCandidates] {
    switch filter {
    case .all, .not: return []
    case .compare(.identifier, .equal, let value): return [Self.identifiers([value])]
    case .isIn(.identifier, let values): return [Self.identifiers(values.values)]
    case .compare(let field, let comparison, let value):
      return rows(field, IndexRange(comparison, value).map { [$0] })
    case .isIn(let field, let values):
      return rows(field, values.values.map { IndexRange(prefix: IndexValue($0).bytes) })
    case .prefix(let field, let prefix): return rows(field, Self.range(ofTextsWithPrefix: prefix))
    case .pattern(let field, let pattern):
      return pattern.prefix.isEmpty
        ? [] : rows(field, Self.range(ofTextsWithPrefix: pattern.prefix))
    case .and(let parts):
      var all: [QueryCandidates] = []
      for part in parts { all += try alternatives(part, reader) }
      return Self.narrowed(all)
    case .or(let parts):
      var union: [QueryCandidates] = []
      for part in parts {
        guard let one = try fewest(of: alternatives(part, reader), reader) else { return [] }
        union.append(one)
      }
      return [Self.joined(union)]
    }
  }

  private static func range(ofTextsWithPrefix prefix: String) -> [IndexRange] {
    [IndexRange(prefix: IndexValue.start(ofTextsWithPrefix: prefix))]
  }

  private static func identifiers(_ values: [QueryValue]) -> QueryCandidates {
    .identifiers(
      values.compactMap { value in
        if case .string(let text) = value { text } else { nil }
      })
  }

  private func rows(_ field: RecordField, _ ranges: [IndexRange]?) -> [QueryCandidates] {
    guard let ranges else { return [] }
    switch field {
    case .identifier, .computed(_, stored: nil): return []
    case .named(let path):
      guard let index = index(of: path) else { return [] }
      return [.rows(index, IndexRange.union(ranges))]
    case .computed(_, stored: let path?):
      guard let index = index(of: path) else { return [] }
      // Where the body lacks the field, its value can be any.
      let absent = IndexRange(prefix: IndexValue(.null).bytes)
      return [.rows(index, IndexRange.union(ranges + [absent]))]
    }
  }

  /// Ranges of one index that must all hold become those that they share.
  private static func narrowed(_ all: [QueryCandidates]) -> [QueryCandidates] {
    combined(all) { IndexRange.intersection($0, $1) }
  }

  /// Ranges of one index of which one must hold become one list of ranges.
  private static func joined(_ all: [QueryCandidates]) -> QueryCandidates {
    let result = combined(all) { IndexRange.union($0 + $1) }
    return result.count == 1 ? result[0] : .union(result)
  }

  /// The same candidates, with one list of ranges for each index.
  private static func combined(
    _ all: [QueryCandidates], _ combine: ([IndexRange], [IndexRange]) -> [IndexRange]
  ) -> [QueryCandidates] {
    var result: [QueryCandidates] = []
    for candidates in all {
      guard case .rows(let index, let ranges) = candidates,
        let position = result.firstIndex(where: { $0.index == index }),
        case .rows(_, let others) = result[position]
      else {
        result.append(candidates)
        continue
      }
      result[position] = .rows(index, combine(others, ranges))
    }
    return result
  }

  private func fewest(
    of alternatives: [QueryCandidates], _ reader: borrowing StoreReader
  ) throws -> QueryCandidates? {
    if alternatives.count < 2 { return alternatives.first }
    var best: (candidates: QueryCandidates, count: Int)?
    for candidates in alternatives {
      let count = try count(candidates, upTo: best?.count ?? recordCount, reader)
      if count < best?.count ?? .max { best = (candidates, count) }
    }
    return best?.candidates
  }

  /// Collects the nodes of candidates until there are `limit`.
  private func collect(
    _ candidates: QueryCandidates, upTo limit: Int, into nodes: inout [UInt64],
    _ reader: borrowing StoreReader
  ) throws {
    switch candidates {
    case .identifiers(let identifiers):
      for identifier in identifiers where nodes.count < limit {
        if let node = try reader.node(identifier) { nodes.append(node) }
      }
    case .rows(let index, let ranges):
      for range in ranges where nodes.count < limit {
        try reader.forEachRow(of: index, in: range) { key in
          nodes.append(try index.node(ofRow: key))
          return nodes.count < limit
        }
      }
    case .union(let parts):
      for part in parts { try collect(part, upTo: limit, into: &nodes, reader) }
    }
  }

  /// How many candidates there are, at most `limit`.
  private func count(
    _ candidates: QueryCandidates, upTo limit: Int, _ reader: borrowing StoreReader
  ) throws -> Int {
    switch candidates {
    case .identifiers(let identifiers): return min(identifiers.count, limit)
    case .rows(let index, let ranges):
      var count = 0
      for range in ranges where count < limit {
        try reader.forEachRow(of: index, in: range) { _ in
          count += 1
          return count < limit
        }
      }
      return count
    case .union(let parts):
      var count = 0
      for part in parts where count < limit {
        count += try self.count(part, upTo: limit - count, reader)
      }
      return count
    }
  }
}

extension QueryCandidates {
  fileprivate var isEmpty: Bool {
    switch self {
    case .identifiers(let identifiers): identifiers.isEmpty
    case .rows(_, let ranges): ranges.isEmpty
    case .union(let parts): parts.allSatisfy(\.isEmpty)
    }
  }

  fileprivate var isIdentifiers: Bool {
    if case .identifiers = self { true } else { false }
  }

  fileprivate var index: StoredIndex? {
    if case .rows(let index, _) = self { index } else { nil }
  }

  /// For a person.
  var access: QueryPlan.Access {
    switch self {
    case .identifiers(let identifiers): .identifiers(count: identifiers.count)
    case .rows(let index, let ranges):
      .index(field: index.field.name, rangeCount: ranges.count, isOrdered: false)
    case .union(let parts): .union(parts.map(\.access))
    }
  }
}
