import PandoLMDB
import PandoModels

/// Records among which all that match must be; what is found there is still compared with the filter.
indirect enum QueryCandidates: Equatable {
  /// Nodes by identifier, each once.
  case identifiers([String])
  /// Rows of an index.
  case rows(StoredIndex, [IndexRange])
  /// What holds one of some nodes, by their identifiers.
  case parents([String])
  /// All of several; each must be looked at.
  case union([QueryCandidates])
  /// What several share.
  case shared([QueryCandidates])
}

/// What is wanted of the records that a query finds.
enum QueryPurpose: Equatable {
  /// Their bodies.
  case records
  /// Which they are.
  case nodes
  /// How many they are.
  case count
  /// Which values of a field they have, in the order of values.
  case values(FieldPath)
}

/// Decides how a query is answered.
///
/// Candidates are derived from the filter: a comparison with an indexed field is a range of rows, `and`
/// narrows ranges and leaves a choice, `or` needs candidates for each part. The choice goes to the
/// fewest rows; all are counted in turns, each a little further, so that a rare value is found before
/// a common one has cost much. Where the fewest are a good part of all records, a scan in the order of
/// the table is faster.
struct QueryPlanner {
  /// Of how many records one must be a candidate for a scan to be faster.
  private static let scanShare = 3
  /// Up to how many candidates are always looked up.
  private static let fewCandidates = 64
  /// How many times further candidates are counted in the next turn.
  private static let turnFactor = 8
  /// How many rows of another index cost as much as the look at one record, or as its body alone
  /// where the record is wanted anyway.
  private static let rowsPerRecord = (32, 4)
  /// How many ranges come from lists of values in several fields.
  static let productMaximum = 64

  let query: RecordQuery
  private let purpose: QueryPurpose
  let indexes: [StoredIndex]
  /// The conditions of which all must hold.
  let parts: [FilterTree<RecordField>]
  let recordCount: Int
  private let type: UInt32

  init(_ query: RecordQuery, _ type: QueriedType, _ purpose: QueryPurpose) {
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

  /// How the candidates are gone through.
  enum Choice {
    case nothing
    ///
    /// `nodes` are they, in any order and perhaps twice, unless they are given by identifier;
    /// `isExact` if all of them match.
    case candidates(QueryCandidates, nodes: [UInt64], isExact: Bool)
    /// In the order of an index, until the window is full.
    case ordered(OrderedRows)
    /// All records, which are counted already.
    case all
    /// Rows that need only be counted.
    case counted(StoredIndex, [IndexRange])
    /// Rows whose values need only be read.
    case valued(OrderedRows)
    case scan
  }

  func choice(_ reader: borrowing StoreReader) throws -> Choice {
    if query.target == 0 { return .nothing }
    if let told = toldInOrder { return told }
    let alternatives = try alternatives(query.filter, reader)
    if alternatives.contains(where: \.isEmpty) { return .nothing }
    if let direct = alternatives.first(where: \.isIdentifiers) {
      return .candidates(direct, nodes: [], isExact: false)
    }
    if let told = toldByRows(alternatives) { return told }
    var limit = max(Self.fewCandidates, recordCount / Self.scanShare)
    let ordered = query.limit == nil ? nil : orderedRows(alternatives, query.order)
    if let ordered {
      if ordered.isExact { return .ordered(ordered) }
      // Of records that match by chance, one in `recordCount / n`, the order's index has to pass as
      // many as the window has times that: no more candidates are looked at than this.
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

  /// The window as an index of several fields has it, which no other way can pass fewer rows for.
  private var toldInOrder: Choice? {
    guard query.limit != nil, indexes.contains(where: { $0.fields.count > 1 }),
      let rows = orderedRows([], query.order, amongComposite: true), rows.isExact,
      rows.isComplete
    else { return nil }
    return rows.ranges.isEmpty ? .nothing : .ordered(rows)
  }

  /// The candidates of which there are fewest, if there are less than so many.
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

  /// Leaves of candidates those that other indexes give, too, where that is cheaper than to look.
  private func shared(
    _ best: (candidates: QueryCandidates, nodes: [UInt64]), _ alternatives: [QueryCandidates],
    _ reader: borrowing StoreReader
  ) throws -> Choice {
    var (candidates, nodes) = best
    guard case .rows = candidates else {
      return .candidates(candidates, nodes: nodes, isExact: false)
    }
    var told = told(by: candidates, alternatives)
    let factor = purpose == .records ? Self.rowsPerRecord.1 : Self.rowsPerRecord.0
    let isWorth = purpose != .records || nodes.count > Self.fewCandidates
    var used = [candidates]
    for other in alternatives where isWorth && other != candidates {
      let more = self.told(by: other, alternatives)
      guard more & ~told != 0, !nodes.isEmpty else { continue }
      let cap = nodes.count.multipliedReportingOverflow(by: factor).partialValue
      var others: [UInt64] = []
      try collect(other, upTo: cap, into: &others, reader)
      guard others.count < cap else { continue }
      nodes = Self.shared(nodes, others)
      told |= more
      used.append(other)
    }
    if used.count > 1 { candidates = .shared(used) }
    return .candidates(candidates, nodes: nodes, isExact: told == allParts)
  }

  /// What two lists share; each holds a node once.
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

  /// How a question is answered by rows alone; `nil` if records have to be found.
  private func toldByRows(_ alternatives: [QueryCandidates]) -> Choice? {
    guard query.uniqueBy.isEmpty, query.after == nil else { return nil }
    switch purpose {
    case .records, .nodes: return nil
    case .count:
      if parts.isEmpty { return .all }
      for candidates in alternatives where told(by: candidates, alternatives) == allParts {
        // Of elements, one record may stand in a range twice.
        if case .rows(let index, let ranges) = candidates,
          !index.hasElements || use(of: index, alternatives).isPinnedToElement(of: index)
        {
          return .counted(index, ranges)
        }
      }
      return nil
    case .values(let path):
      guard query.limit == nil, query.offset == 0,
        let rows = orderedRows(alternatives, [.field(.named(path), isDescending: false)]),
        rows.isExact, !rows.index.hasElements
      else { return nil }
      return .valued(rows)
    }
  }

  /// Candidates for a filter, any of which will do; none if the filter says nothing that an index knows.
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
    case .all, .not: return []
    case .compare(.identifier, .equal, let value): return [Self.identifiers([value])]
    case .isIn(.identifier, let values): return [Self.identifiers(values.values)]
    case .compare(let field, .equal, let value) where areKnownByChildren(field):
      return Self.parents([value])
    case .isIn(let field, let values) where areKnownByChildren(field):
      return Self.parents(values.values)
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

  /// Whether those that have a value in a field are the parents of a node, and no index knows them.
  private func areKnownByChildren(_ field: RecordField) -> Bool {
    switch field {
    case .children, .computedChild: true
    // Behind a child are children of its own.
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

  /// Who holds a node; none if what holds nothing is asked for, too.
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
    case .union(let parts), .shared(let parts): parts.allSatisfy(\.isEmpty)
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
    case .parents(let identifiers): .parents(count: identifiers.count)
    case .rows(let index, let ranges):
      .index(field: index.name, rangeCount: ranges.count, isOrdered: false)
    case .union(let parts): .union(parts.map(\.access))
    case .shared(let parts): .intersection(parts.map(\.access))
    }
  }
}
