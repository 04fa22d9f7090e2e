import PandoLMDB
import PandoModels

/// A superset of the matching records; each is still compared with the filter.
indirect enum QueryCandidates: Equatable {
  /// Nodes by identifier, without duplicates.
  case identifiers([String])
  /// Rows of an index.
  case rows(StoredIndex, [IndexRange])
  /// The parents of nodes with these identifiers.
  case parents([String])
  /// The records with the words of a search, by an index of words.
  case words(StoredIndex, WordSearch)
  /// The union of several; each part must be read.
  case union([QueryCandidates])
  /// The intersection of several.
  case shared([QueryCandidates])
}

/// The required result of a query.
enum QueryPurpose: Equatable {
  /// The bodies of the records.
  case records
  /// The nodes of the records.
  case nodes
  /// The number of records.
  case count
  /// The sum of a field.
  case sum(FieldPath)
  /// The number of records for each value of a field.
  case counts(FieldPath)
  /// The values of fields of each record; of the elements of a list, each different one.
  case values([FieldPath])
}

/// Decides how a query is answered.
///
/// The filter determines the candidates: a comparison with an indexed field is a range of rows.
/// `and` narrows ranges and offers a choice; `or` needs candidates for each part. The planner
/// chooses the fewest rows. It counts all of them in turns, so that it finds a rare value before it
/// has counted many rows of a common one. If the fewest are a large part of all records, a scan in
/// table order is faster.
struct QueryPlanner {
  /// A scan is faster if at least one of this many records is a candidate.
  private static let scanShare = 3
  /// Up to this number, candidates are always looked up.
  private static let fewCandidates = 64
  /// The factor by which the next turn counts further.
  private static let turnFactor = 8
  /// How many rows of another index cost as much as reading one record, or only its body if the
  /// record is required anyway.
  private static let rowsPerRecord = (32, 4)
  /// The most ranges from lists of values in several fields.
  static let productMaximum = 64

  let query: RecordQuery
  private let purpose: QueryPurpose
  let indexes: [StoredIndex]
  /// The conditions of the conjunction.
  let parts: [FilterTree<RecordField>]
  let recordCount: Int
  private let type: UInt32
  /// Whether found records may be left out, so that a window needs more.
  let leavesOut: Bool

  init(_ query: RecordQuery, _ type: QueriedType, _ purpose: QueryPurpose, leavesOut: Bool) {
    self.leavesOut = leavesOut
    self.query = query
    self.purpose = purpose
    recordCount = type.recordCount
    self.type = type.number
    indexes = type.indexes
    parts =
      switch query.filter {
      case .and(let parts): parts.filter { $0 != .all }
      case .all: []
      default: [query.filter]
      }
  }

  /// The way through the candidates.
  enum Choice {
    case nothing
    /// The given candidates.
    ///
    /// `nodes` is unsorted, may have duplicates, and is empty for identifiers; `isExact` if all of
    /// them match.
    case candidates(QueryCandidates, nodes: [UInt64], isExact: Bool)
    /// The matching nodes of the window, and of what precedes it, by relevance.
    case ranked(QueryCandidates, nodes: [UInt64])
    /// In the order of an index, until the window is full.
    case ordered(OrderedRows)
    /// All records, whose number is stored.
    case all
    /// Rows that are only counted.
    case counted(StoredIndex, [IndexRange])
    /// Rows of which each value is counted.
    case valued(OrderedRows)
    /// Rows that have all values.
    case covered(CoveringRows)
    case scan

    /// Whether no record is compared with the filter.
    var isExact: Bool {
      switch self {
      case .nothing, .ranked, .all, .counted, .valued, .covered: true
      case .candidates(_, _, let isExact): isExact
      case .ordered(let rows): rows.isExact
      case .scan: false
      }
    }
  }

  func choice(_ reader: borrowing StoreReader) throws -> Choice {
    if query.target == 0 { return .nothing }
    if let choice = windowOfIndex { return choice }
    let alternatives = try alternatives(query.filter, reader)
    if alternatives.contains(where: \.isEmpty) { return .nothing }
    if let direct = alternatives.first(where: \.isIdentifiers) {
      return .candidates(direct, nodes: [], isExact: false)
    }
    if let choice = try windowOfWords(reader) { return choice }
    if let choice = answerOfRows(alternatives) { return choice }
    var limit = max(Self.fewCandidates, recordCount / Self.scanShare)
    let ordered = query.limit == nil ? nil : orderedRows(alternatives, query.order)
    if let ordered {
      if ordered.isExact { return .ordered(ordered) }
      // If a filter matches one in `recordCount / n` records at random, the order's index passes as
      // many times the window. So no more candidates than that are read.
      let passed = (Double(query.target) * Double(recordCount)).squareRoot()
      limit = min(limit, max(Self.fewCandidates, passed < Double(limit) ? Int(passed) : limit) + 1)
      if ordered.pinnedCount > 0 { limit = min(limit, Self.fewCandidates + 1) }
    }
    if let best = try fewest(of: alternatives, upTo: limit, reader) {
      if let ordered, best.candidates == .rows(ordered.index, ordered.ranges) {
        return .ordered(ordered)
      }
      return try shared(best, alternatives, reader)
    }
    return ordered.map { .ordered($0) } ?? .scan
  }

  /// The window from an index of several fields, if no other way passes fewer rows.
  private var windowOfIndex: Choice? {
    guard query.limit != nil, indexes.contains(where: { $0.fields.count > 1 }),
      let rows = orderedRows([], query.order, amongComposite: true), rows.isExact,
      rows.isComplete
    else { return nil }
    return rows.ranges.isEmpty ? .nothing : .ordered(rows)
  }

  /// The smallest set of candidates, if it is below a limit.
  private func fewest(
    of alternatives: [QueryCandidates], upTo limit: Int, _ reader: borrowing StoreReader
  ) throws -> (candidates: QueryCandidates, nodes: [UInt64])? {
    var cap = alternatives.count < 2 ? limit : min(limit, Self.fewCandidates)
    while !alternatives.isEmpty {
      var best: (candidates: QueryCandidates, nodes: [UInt64])?
      for candidates in alternatives {
        let cap = min(best?.nodes.count ?? cap, cap)
        var nodes: [UInt64] = []
        nodes.reserveCapacity(min(cap, Self.fewCandidates))
        try collect(candidates, upTo: cap, into: &nodes, reader)
        if nodes.count < cap { best = (candidates, nodes) }
      }
      if best != nil || cap >= limit { return best }
      cap = min(limit, cap * Self.turnFactor)
    }
    return nil
  }

  /// Intersects candidates with those of other indexes, if that is cheaper than reading them.
  private func shared(
    _ best: (candidates: QueryCandidates, nodes: [UInt64]), _ alternatives: [QueryCandidates],
    _ reader: borrowing StoreReader
  ) throws -> Choice {
    var (candidates, nodes) = best
    switch candidates {
    case .rows, .words: break
    default: return .candidates(candidates, nodes: nodes, isExact: false)
    }
    var decided = decided(by: candidates, alternatives)
    let factor = purpose == .records ? Self.rowsPerRecord.1 : Self.rowsPerRecord.0
    let isWorth = purpose != .records || nodes.count > Self.fewCandidates
    var used = [candidates]
    for other in alternatives where isWorth && other != candidates {
      let more = self.decided(by: other, alternatives)
      guard more & ~decided != 0, !nodes.isEmpty else { continue }
      let cap = nodes.count.multipliedReportingOverflow(by: factor).partialValue
      var others: [UInt64] = []
      try collect(other, upTo: cap, into: &others, reader)
      guard others.count < cap else { continue }
      nodes = Self.shared(nodes, others)
      decided |= more
      used.append(other)
    }
    if used.count > 1 { candidates = .shared(used) }
    return .candidates(candidates, nodes: nodes, isExact: decided == allParts)
  }

  /// The intersection of two lists without duplicates.
  private static func shared(_ some: [UInt64], _ others: [UInt64]) -> [UInt64] {
    var (some, others) = (some, others)
    some.sort()
    others.sort()
    var result: [UInt64] = []
    var index = 0
    for node in some {
      while index < others.count, others[index] < node { index += 1 }
      if index == others.count { break }
      if others[index] == node { result.append(node) }
    }
    return result
  }

  /// The way to answer from index rows alone; `nil` if records must be read.
  private func answerOfRows(_ alternatives: [QueryCandidates]) -> Choice? {
    guard query.uniqueBy.isEmpty, query.after == nil else { return nil }
    switch purpose {
    case .records, .nodes: return nil
    case .sum(let path):
      guard query.limit == nil, query.offset == 0 else { return nil }
      return answerOfTotals(alternatives) { $0.sumPlace(of: path) != nil }
    case .count:
      if parts.isEmpty { return .all }
      if let choice = answerOfTotals(alternatives, where: { _ in true }) { return choice }
      for candidates in alternatives where decided(by: candidates, alternatives) == allParts {
        // In an index of elements, a record may occur twice in a range.
        if case .rows(let index, let ranges) = candidates,
          !index.hasElements || use(of: index, alternatives).isPinnedToElement(of: index)
        {
          return .counted(index, ranges)
        }
      }
      return nil
    case .counts(let path):
      guard query.limit == nil, query.offset == 0 else { return nil }
      let rows = orderedRows(alternatives, [.field(.named(path), isDescending: false)])
      if let rows, rows.isExact, !rows.index.hasElements { return .valued(rows) }
      return coveringRows([path], alternatives).map { .covered($0) }
    case .values(let paths):
      guard query.limit == nil, query.offset == 0 else { return nil }
      return coveringRows(paths, alternatives).map { .covered($0) }
    }
  }

  /// The ranges of an index with totals that have each matching record once, and no other.
  private func answerOfTotals(
    _ alternatives: [QueryCandidates], where isRight: (StoredIndex) -> Bool
  ) -> Choice? {
    for index in indexes where index.keepsTotals && isRight(index) {
      let use = use(of: index, alternatives)
      guard use.isExact, !index.hasElements || use.isPinnedToElement(of: index) else { continue }
      return .counted(index, use.ranges)
    }
    return nil
  }

  /// Sets of candidates, each of them sufficient; none if no index covers the filter.
  private func alternatives(
    _ filter: FilterTree<RecordField>, _ reader: borrowing StoreReader
  ) throws -> [QueryCandidates] {
    switch filter {
    case .all, .not: return []
    case .and: break
    default:
      let composite = compositeRows([filter])
      if !composite.isEmpty { return try simple(filter, reader) + composite }
    }
    return try simple(filter, reader)
  }

  private func simple(
    _ filter: FilterTree<RecordField>, _ reader: borrowing StoreReader
  ) throws -> [QueryCandidates] {
    switch filter {
    case .all, .not, .part: return []
    case .compare(.identifier, .equal, let value): return [Self.identifiers([value])]
    case .isIn(.identifier, let values): return [Self.identifiers(values.values)]
    case .compare(let field, .equal, let value) where areKnownByChildren(field):
      return Self.parents([value])
    case .isIn(let field, let values) where areKnownByChildren(field):
      return Self.parents(values.values)
    case .compare(let field, let comparison, let value):
      return rows(field, IndexRange(comparison, value).map { [$0] })
    case .isIn(let field, let values):
      return rows(field, values.values.map { IndexRange(values: IndexValue($0).bytes) })
    case .prefix(let field, let prefix): return rows(field, Self.range(ofTextsWithPrefix: prefix))
    case .pattern(let field, let pattern):
      return pattern.prefix.isEmpty
        ? [] : rows(field, Self.range(ofTextsWithPrefix: pattern.prefix))
    case .search(let fields, let search):
      guard let index = wordIndex(of: fields), !search.units.isEmpty else { return [] }
      return [.words(index, search)]
    case .and(let parts):
      var all: [QueryCandidates] = []
      for part in parts { all += try simple(part, reader) }
      return Self.narrowed(all) + compositeRows(parts)
    case .or(let parts):
      var union: [QueryCandidates] = []
      for part in parts {
        guard let one = try fewest(of: alternatives(part, reader), reader) else { return [] }
        union.append(one)
      }
      return [Self.joined(union)]
    }
  }

  /// Whether the parents of a node are the records with a value in a field, and no index covers it.
  private func areKnownByChildren(_ field: RecordField) -> Bool {
    switch field {
    case .children, .computedChild: true
    // The path behind a child leads to children of its own.
    case .child(let path): path.parts.count < 2 && index(of: path) == nil
    default: false
    }
  }

  private static func range(ofTextsWithPrefix prefix: String) -> [IndexRange] {
    [IndexRange(prefix: IndexValue.start(ofTextsWithPrefix: prefix))]
  }

  private static func identifiers(_ values: [QueryValue]) -> QueryCandidates {
    .identifiers(texts(values))
  }

  /// The parents of nodes; none if a null value also matches records without a child.
  private static func parents(_ values: [QueryValue]) -> [QueryCandidates] {
    values.contains(.null) ? [] : [.parents(texts(values))]
  }

  private static func texts(_ values: [QueryValue]) -> [String] {
    values.compactMap { value in
      if case .string(let text) = value { text } else { nil }
    }
  }

  private func rows(_ field: RecordField, _ ranges: [IndexRange]?) -> [QueryCandidates] {
    guard let ranges else { return [] }
    switch field {
    case .identifier, .children, .computed(_, stored: nil), .computedChild: return []
    case .named(let path), .child(let path):
      guard let index = index(of: path) else { return [] }
      return [.rows(index, IndexRange.union(ranges))]
    case .computed(_, stored: let path?):
      guard let index = index(of: path) else { return [] }
      // Records without the field may have any value.
      let absent = IndexRange(values: IndexValue(.null).bytes)
      return [.rows(index, IndexRange.union(ranges + [absent]))]
    }
  }

  /// Intersects the ranges of each index.
  private static func narrowed(_ all: [QueryCandidates]) -> [QueryCandidates] {
    combined(all) { IndexRange.intersection($0, $1) }
  }

  /// Unites the ranges of each index.
  private static func joined(_ all: [QueryCandidates]) -> QueryCandidates {
    let result = combined(all) { IndexRange.union($0 + $1) }
    return result.count == 1 ? result[0] : .union(result)
  }

  /// The same candidates, with one list of ranges per index.
  private static func combined(
    _ all: [QueryCandidates], _ combine: ([IndexRange], [IndexRange]) -> [IndexRange]
  ) -> [QueryCandidates] {
    var result: [QueryCandidates] = []
    for candidates in all {
      guard case .rows(let index, let ranges) = candidates, !index.hasElements,
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
    return try fewest(of: alternatives, upTo: recordCount + 1, reader)?.candidates
      ?? alternatives.first
  }

  /// Collects the nodes of candidates, up to `limit`.
  private func collect(
    _ candidates: QueryCandidates, upTo limit: Int, into nodes: inout [UInt64],
    _ reader: borrowing StoreReader
  ) throws {
    switch candidates {
    case .identifiers(let identifiers):
      for identifier in identifiers where nodes.count < limit {
        if let node = try reader.node(identifier) { nodes.append(node) }
      }
    case .parents(let identifiers):
      for identifier in identifiers where nodes.count < limit {
        guard let node = try reader.node(identifier) else { continue }
        try reader.forEachParent(of: node) { parent, _ in
          if parent.type == type { nodes.append(parent.node) }
          return nodes.count < limit
        }
      }
    case .rows(let index, let ranges):
      for range in ranges where nodes.count < limit {
        try reader.forEachRow(of: index, in: range) { key in
          nodes.append(try index.node(ofRow: key))
          return nodes.count < limit
        }
      }
    case .words(let index, let search):
      if nodes.count >= limit { return }
      let matches = try WordMatches(
        search, index, limit: limit - nodes.count, isRanked: false, reader)
      nodes += matches.nodes
    case .union(let parts), .shared(let parts):
      for part in parts { try collect(part, upTo: limit, into: &nodes, reader) }
    }
  }
}

extension QueryCandidates {
  fileprivate var isEmpty: Bool {
    switch self {
    case .identifiers(let identifiers), .parents(let identifiers): identifiers.isEmpty
    case .rows(_, let ranges): ranges.isEmpty
    case .words: false
    case .union(let parts), .shared(let parts): parts.allSatisfy(\.isEmpty)
    }
  }

  fileprivate var isIdentifiers: Bool {
    if case .identifiers = self { true } else { false }
  }

  fileprivate var index: StoredIndex? {
    if case .rows(let index, _) = self { index } else { nil }
  }

  /// The access in a plan.
  var access: QueryPlan.Access {
    switch self {
    case .identifiers(let identifiers): .identifiers(count: identifiers.count)
    case .parents(let identifiers): .parents(count: identifiers.count)
    case .rows(let index, let ranges):
      .index(field: index.name, rangeCount: ranges.count, isOrdered: false)
    case .words(let index, _): .words(fields: index.wordFields)
    case .union(let parts): .union(parts.map(\.access))
    case .shared(let parts): .intersection(parts.map(\.access))
    }
  }
}
