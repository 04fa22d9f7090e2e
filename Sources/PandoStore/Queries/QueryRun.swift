import PandoSystem
import PandoLMDB
import PandoModels

/// Answers one query over one version of the store.
///
/// The bodies are compared with the filter as they are stored; only what the result shows has to be
/// decoded, by the caller.
struct QueryRun {
  /// Finds values that only the caller knows: by the number of a field, and the node.
  typealias Computing = (Int, UInt64) throws -> QueryValue

  /// For a query without computed fields.
  ///
  /// Not a closure written where it is used: the compiler would make another copy of all below for it.
  @inline(never)
  static func computingNothing() -> Computing {
    { number, _ in preconditionFailure("field \(number) is computed, and nobody computes it") }
  }

  private let query: RecordQuery
  private let filter: BodyFilter
  private let type: UInt32
  private let recordCount: Int
  private let choice: QueryPlanner.Choice
  private var matches: [QueryMatch] = []
  private var seen: Set<[QueryValue]> = []
  /// Whether matches have to be sorted by the values that the order compares.
  private var comparesValues: Bool
  /// Nodes that are passed over.
  private let excluded: Set<UInt64>

  init(
    _ query: RecordQuery, _ reader: borrowing StoreReader, without excluded: Set<UInt64> = []
  ) throws {
    self.query = query
    self.excluded = excluded
    comparesValues = !query.order.isEmpty
    filter = BodyFilter(query.filter)
    let type = try reader.directory.catalog.type(named: query.typeName, in: reader)
    self.type = type.number
    recordCount = type.recordCount
    choice = recordCount == 0 ? .nothing : try QueryPlanner(query, type).choice(reader)
  }

  /// How the query is answered.
  var plan: QueryPlan {
    var isSorted = !query.order.isEmpty
    let access: QueryPlan.Access
    switch choice {
    case .nothing:
      access = .nothing
      isSorted = false
    case .candidates(let candidates, _, _): access = candidates.access
    case .ordered(let index, let ranges, _, _):
      access = .index(field: index.field.name, rangeCount: ranges.count, isOrdered: true)
      isSorted = query.order.count > 1
    case .scan: access = .scan
    }
    return QueryPlan(
      typeName: query.typeName, recordCount: recordCount, access: access, isSorted: isSorted)
  }

  /// Finds the records of the result, in its order.
  ///
  /// `source` gives the bodies in the version of the reader.
  mutating func find(
    _ reader: borrowing StoreReader, _ source: SnapshotSource, computing: Computing
  ) throws -> ArraySlice<QueryMatch> {
    switch choice {
    case .nothing: return []
    case .scan: try scan(reader, computing)
    case .candidates(let candidates, let found, let isExact):
      let nodes = try sorted(candidates, found, reader)
      if isExact, query.order.isEmpty, query.uniqueBy.isEmpty {
        return window(of: nodes.map { QueryMatch(node: $0) })
      }
      for node in nodes {
        guard let body = try unsafe source.body(of: RecordKey(type: type, node: node)) else {
          continue
        }
        // The bytes live as long as the reader's snapshot.
        let bytes = unsafe Span<UInt8>(_unsafeBytes: body)
        guard try take(node, bytes, isExact: isExact, reader, computing) else { break }
      }
    case .ordered(let index, let ranges, let isDescending, let isExact):
      let visit = IndexVisit(index: index, isDescending: isDescending, isExact: isExact)
      comparesValues = query.order.count > 1
      do {
        try go(visit, ranges, reader, source, computing)
      } catch is CutOffValue {
        matches = []
        comparesValues = true
        try go(visit, ranges, reader, source, computing)
      }
    }
    sort()
    return window(of: matches)
  }

  private func window(of matches: [QueryMatch]) -> ArraySlice<QueryMatch> {
    let rest = matches.dropFirst(query.offset)
    return query.limit.map { rest.prefix($0) } ?? rest
  }
}

extension QueryRun {
  /// Looks at every record of the type.
  private mutating func scan(
    _ reader: borrowing StoreReader, _ computing: Computing
  ) throws {
    guard recordCount >= (try reader.snapshot.count(of: reader.tables.nodes)) / 2 else {
      return try reader.forEachRecord(ofType: type) { key, body in
        try take(key.node, body, isExact: false, reader, computing)
      }
    }
    // To pass the others costs less than to search for each.
    try reader.snapshot.scan(reader.tables.nodes) { key, value in
      guard let node = ByteFields.bigEndian(key, at: 0) else {
        throw StoreError.damaged("nodes", "a key has \(key.count) bytes instead of 8")
      }
      let row = try NodeRow(value, node: node)
      guard let index = row.index(ofType: type) else { return true }
      let body = row.body(index)
      guard row.header(index).matches(body) else {
        throw reader.damagedRecord(
          RecordKey(type: type, node: node), "its checksum does not fit its bytes")
      }
      return try take(node, body, isExact: false, reader, computing)
    }
  }

  /// Candidates in the order of their numbers, each once.
  private func sorted(
    _ candidates: QueryCandidates, _ found: [UInt64], _ reader: borrowing StoreReader
  ) throws -> [UInt64] {
    var nodes = found
    if case .identifiers(let identifiers) = candidates {
      for identifier in identifiers {
        if let node = try reader.node(identifier) { nodes.append(node) }
      }
    }
    nodes.sort()
    var last: UInt64?
    nodes.removeAll { node in
      defer { last = node }
      return node == last || excluded.contains(node)
    }
    return nodes
  }

  /// Whether the window is full where what comes next can't come before what is there.
  private var isFull: Bool { matches.count >= query.target }

  /// Takes a record if it matches.
  ///
  /// - Returns: Whether more may be needed.
  private mutating func take(
    _ node: UInt64, _ body: Span<UInt8>, isExact: Bool, _ reader: borrowing StoreReader,
    _ computing: Computing
  ) throws -> Bool {
    guard try isExact || filter.mayMatch(body), !excluded.contains(node) else { return true }
    guard !comparesValues, query.uniqueBy.isEmpty, isExact || filter.rest.isEmpty else {
      do {
        return try takeComparing(node, body, isExact: isExact, reader, computing)
      } catch is SkippedRecord {
        return true
      }
    }
    matches.append(QueryMatch(node: node, body))
    return !isFull
  }

  /// Takes a record that may match, where values have to be looked at for it.
  @inline(never)
  private mutating func takeComparing(
    _ node: UInt64, _ body: Span<UInt8>, isExact: Bool, _ reader: borrowing StoreReader,
    _ computing: Computing
  ) throws -> Bool {
    func value(_ field: RecordField) throws -> QueryValue {
      switch field {
      case .identifier: .string(try reader.identifier(of: node))
      case .named(let path): try path.value(in: body)
      case .computed(let number, _): try computing(number, node)
      }
    }
    if !isExact {
      for part in filter.rest where try !part.matches(value) { return true }
    }
    if !query.uniqueBy.isEmpty {
      guard seen.insert(try query.uniqueBy.map(value)).inserted else { return true }
    }
    guard comparesValues else {
      matches.append(QueryMatch(node: node, body))
      return !isFull
    }
    let values = try query.order.map { order -> QueryValue in
      switch order {
      case .field(let field, _): return try value(field)
      case .identifiers(let positions):
        let identifier = try reader.identifier(of: node)
        return .integer(Int64(positions[ByteString(identifier)] ?? .max))
      }
    }
    matches.append(QueryMatch(node: node, body, values: values))
    // What can no longer come into the window is let go from time to time.
    if let limit = query.target.keepingLimit, matches.count >= limit {
      sort()
      matches.removeLast(matches.count - query.target)
    }
    return true
  }

  /// Sorts by all keys, and by node number what they call equal.
  private mutating func sort() {
    guard comparesValues else { return }
    let isDescending = query.order.map(\.isDescending)
    matches = matches.ordered { left, right in
      for (index, isDescending) in isDescending.enumerated() {
        let one = left.values[index]
        let other = right.values[index]
        if one == other { continue }
        return (one < other) != isDescending
      }
      return left.node < right.node
    }
  }
}

/// Thrown by who computes a field of a record that is to be passed over.
struct SkippedRecord: Error {}

extension Int {
  /// When so many matches are kept, those beyond a window of this size are let go; `nil` for one that
  /// is too large to matter.
  fileprivate var keepingLimit: Int? { self < 1 << 20 ? 4 * self + 1000 : nil }
}

/// A way through an index.
private struct IndexVisit {
  let index: StoredIndex
  let isDescending: Bool
  /// Whether all rows match.
  let isExact: Bool
}

/// Rows of which only a part of the value is kept are not in the order of their values.
private struct CutOffValue: Error {}

extension QueryRun {
  /// Goes through ranges of an index until the window is full.
  private mutating func go(
    _ visit: IndexVisit, _ ranges: [IndexRange], _ reader: borrowing StoreReader,
    _ source: SnapshotSource, _ computing: Computing
  ) throws {
    for range in visit.isDescending ? ranges.reversed() : ranges where !isFull {
      if visit.isDescending {
        try goDown(visit, range, reader, source, computing)
      } else {
        try goUp(visit, range, reader, source, computing)
      }
    }
  }

  /// Takes what a row speaks of.
  private mutating func take(
    row node: UInt64, _ visit: IndexVisit, _ reader: borrowing StoreReader,
    _ source: SnapshotSource, _ computing: Computing
  ) throws {
    if visit.isExact, !comparesValues, !excluded.contains(node) {
      matches.append(QueryMatch(node: node))
      return
    }
    guard let body = try unsafe source.body(of: RecordKey(type: type, node: node)) else { return }
    // The bytes live as long as the reader's snapshot.
    let bytes = unsafe Span<UInt8>(_unsafeBytes: body)
    _ = try take(node, bytes, isExact: visit.isExact, reader, computing)
  }

  /// Goes up an index until the window is full; where values are compared, until a new one begins.
  private mutating func goUp(
    _ visit: IndexVisit, _ range: IndexRange, _ reader: borrowing StoreReader,
    _ source: SnapshotSource, _ computing: Computing
  ) throws {
    var group: [UInt8] = []
    try reader.forEachRow(of: visit.index, in: range) { key in
      let node = try visit.index.node(ofRow: key)
      let value = key.extracting(
        StoredIndex.numberByteCount..<(key.count - StoredIndex.nodeByteCount))
      if comparesValues {
        let isNew = !value.hasSameBytes(as: group.span)
        if isNew, isFull { return false }
        if isNew { group = Array(copying: value) }
      } else {
        if isFull { return false }
        if IndexValue.isCutOff(value) { throw CutOffValue() }
      }
      try take(row: node, visit, reader, source, computing)
      return true
    }
  }

  /// Goes down an index in the same way; rows of one value are still taken upwards.
  private mutating func goDown(
    _ visit: IndexVisit, _ range: IndexRange, _ reader: borrowing StoreReader,
    _ source: SnapshotSource, _ computing: Computing
  ) throws {
    var upper = range.upper
    while !isFull {
      // Rows that are alone with their value are taken as they come.
      var last: (value: [UInt8], node: UInt64)?
      var isShared = false
      let rest = IndexRange(lower: range.lower, upper: upper)
      try reader.forEachRow(of: visit.index, in: rest, reversed: true) { key in
        let node = try visit.index.node(ofRow: key)
        let value = key.extracting(
          StoredIndex.numberByteCount..<(key.count - StoredIndex.nodeByteCount))
        if !comparesValues, IndexValue.isCutOff(value) { throw CutOffValue() }
        if let last {
          isShared = value.hasSameBytes(as: last.value.span)
          if isShared { return false }
          try take(row: last.node, visit, reader, source, computing)
          if isFull { return false }
        }
        last = (Array(copying: value), node)
        return true
      }
      guard let last, !isFull else { return }
      guard isShared else { return try take(row: last.node, visit, reader, source, computing) }
      try goUp(visit, IndexRange(prefix: last.value), reader, source, computing)
      upper = last.value
    }
  }
}
