import PandoLMDB
import PandoModels
import PandoSystem

/// Answers one query in one version of the store.
///
/// The filter is compared with the stored bodies; the caller decodes only the result.
///
/// The constants come from the query and the planner. `matches`, `scannedCount` and `seen` grow
/// while ``find(_:_:computing:)`` runs.
struct QueryRun {
  /// Computes a value from the number of a field and the node.
  typealias Computing = (Int, UInt64) throws -> QueryValue

  /// The function for a query without computed fields.
  ///
  /// A named function, because a closure at each use would duplicate all code below.
  @inline(never)
  static func computingNothing() -> Computing {
    { number, _ in preconditionFailure("field \(number) is computed, and no closure computes it") }
  }

  private(set) var query: RecordQuery
  private let filter: BodyFilter
  let type: UInt32
  let recordCount: Int
  let choice: QueryPlanner.Choice
  let indexes: [StoredIndex]
  private var matches: [QueryMatch] = []
  /// The number of records that a scan has read.
  private var scannedCount = 0
  private var seen: Set<[QueryValue]> = []
  /// Whether matches have to be sorted by the compared values.
  private var comparesValues: Bool
  /// The nodes to skip.
  private let excluded: Set<UInt64>
  /// Takes matches in place of ``matches``; `nil` to keep them.
  private var sink: (any MatchSink)?
  /// The relevance of texts for the search of the filter; `nil` unless the order needs it.
  var relevance: WordRelevance?
  /// The words of the last scanned text; kept for its room.
  var scanner: WordScanner?

  init(
    _ query: RecordQuery, _ reader: borrowing StoreReader, _ purpose: QueryPurpose = .records,
    without excluded: Set<UInt64> = []
  ) throws {
    self.query = query
    self.excluded = excluded
    comparesValues = !query.order.isEmpty
    let type = try reader.directory.catalog.type(named: query.typeName, in: reader)
    self.type = type.number
    recordCount = type.recordCount
    indexes = type.indexes
    choice =
      recordCount == 0
      ? .nothing
      : try QueryPlanner(
        query, type, purpose, leavesOut: !excluded.isEmpty
      ).choice(reader)
    filter = BodyFilter(choice.isExact ? .all : query.filter)
  }

  /// Whether the rows of an index have the values of an answer.
  var hasValuesInRows: Bool {
    switch choice {
    case .valued, .covered: true
    default: false
    }
  }

  /// Whether the matching nodes are known without their records.
  var hasExactNodes: Bool {
    guard case .candidates(_, _, isExact: true) = choice else { return false }
    return query.order.isEmpty && query.uniqueBy.isEmpty
  }

  /// The plan of the query.
  var plan: QueryPlan {
    var isSorted = !query.order.isEmpty
    var reading = QueryPlan.Reading.models
    let access: QueryPlan.Access
    switch choice {
    case .nothing:
      access = .nothing
      isSorted = false
    case .candidates(let candidates, _, _): access = candidates.access
    case .ranked(let candidates, _):
      access = candidates.access
      isSorted = false
    case .ordered(let rows):
      access = .index(field: rows.index.name, rangeCount: rows.ranges.count, isOrdered: true)
      isSorted = !rows.isComplete
    case .all:
      access = .recordCount
      reading = .indexRows
      isSorted = false
    case .counted(let index, let ranges):
      access = .index(field: index.name, rangeCount: ranges.count, isOrdered: false)
      reading = .indexRows
      isSorted = false
    case .valued(let rows):
      access = .index(field: rows.index.name, rangeCount: rows.ranges.count, isOrdered: true)
      reading = .indexRows
    case .covered(let rows):
      access = .index(field: rows.index.name, rangeCount: rows.ranges.count, isOrdered: false)
      reading = .indexRows
      isSorted = false
    case .scan: access = .scan
    }
    return QueryPlan(
      typeName: query.typeName, recordCount: recordCount, access: access, isSorted: isSorted,
      reading: reading, reason: reason)
  }

  /// The reason why an index of a field of the query can't be used.
  private var reason: String? {
    if let missing = missingWords { return missing }
    for path in query.fields.compactMap(\.path) {
      if indexes.contains(where: { $0.fields == [path] }) { continue }
      for index in indexes {
        let made = index.fields.first { $0.hasSameName(as: path) && $0 != path }
        guard let made else { continue }
        let difference =
          made.fallbacks == path.fallbacks
          ? "for another type of \(path.name) than that of \(query.typeName)"
          : "for other former names or defaults of \(path.name) than \(query.typeName) declares"
        return "the index on \(index.name) was made \(difference); addIndexes(of:) makes it anew"
      }
    }
    return nil
  }

  /// Passes each record of the result, in any order, or in that of a window.
  mutating func forEach(
    _ reader: borrowing StoreReader, _ source: SnapshotSource, computing: Computing,
    _ sink: any MatchSink
  ) throws {
    if query.order.isEmpty, query.limit == nil, query.offset == 0 { self.sink = sink }
    for match in try find(reader, source, computing: computing) { try sink.take(match) }
    self.sink = nil
  }

  /// Finds the records of the result, in its order.
  ///
  /// `source` returns the bodies in the version of the reader.
  mutating func find(
    _ reader: borrowing StoreReader, _ source: SnapshotSource, computing: Computing
  ) throws -> ArraySlice<QueryMatch> {
    if query.order.contains(where: \.isRelevance) {
      if case .ranked(_, let nodes) = choice {
        return window(of: nodes.map { QueryMatch(node: $0) })
      }
      if recordCount > 0 { relevance = try relevance(reader, source, computing) }
    }
    switch choice {
    case .nothing, .ranked: return []
    case .all, .counted, .valued, .covered:
      preconditionFailure("a result that rows give is not searched for")
    case .scan:
      try scan(reader, source, computing)
      reader.directory.catalog.tell {
        QueryScan(query, recordCount: scannedCount, of: recordCount)
      }
    case .candidates(let candidates, let found, let isExact):
      var nodes = try sorted(candidates, found, reader)
      if query.order.isEmpty, query.uniqueBy.isEmpty {
        if let after = query.after { nodes.removeAll { !isNode($0, behind: after) } }
        if query.isReversed { nodes.reverse() }
        if isExact { return window(of: nodes.map { QueryMatch(node: $0) }) }
      }
      for node in nodes {
        guard let body = try unsafe source.body(of: RecordKey(type: type, node: node)) else {
          continue
        }
        // The bytes live as long as the reader's snapshot.
        let bytes = unsafe Span<UInt8>(_unsafeBytes: body)
        guard try take(node, bytes, isExact: isExact, reader, source, computing) else { break }
      }
    case .ordered(let rows):
      comparesValues = !rows.isComplete
      let offset = query.offset
      let ranges = try rangesBehindOffset(rows, reader)
      matches.reserveCapacity(min(query.target, Self.usualMatchCount))
      do {
        try go(IndexVisit(rows, ranges, query, comparesValues), reader, source, computing)
      } catch is CutOffValue {
        matches = []
        comparesValues = true
        query.offset = offset
        try go(IndexVisit(rows, rows.ranges, query, true), reader, source, computing)
      }
    }
    sort()
    return window(of: matches)
  }

  /// The ranges without the rows before the window, if an index with totals tells which ones these are.
  ///
  /// The offset of the query is then what is left of it.
  private mutating func rangesBehindOffset(
    _ rows: OrderedRows, _ reader: borrowing StoreReader
  ) throws -> [IndexRange] {
    guard query.offset > Self.passedOffset, rows.index.keepsTotals, rows.isExact, rows.isComplete,
      excluded.isEmpty, query.after == nil, !query.isReversed
    else { return rows.ranges }
    let ranges = rows.isDescending ? rows.ranges.reversed() : rows.ranges
    for (place, range) in ranges.enumerated() {
      let count = try reader.total(of: rows.index, in: range).rowCount
      if count <= query.offset {
        query.offset -= count
        continue
      }
      let before = try reader.total(of: rows.index, below: range.lower).rowCount
      let first = rows.isDescending ? before + count - 1 - query.offset : before + query.offset
      guard let row = try reader.rowKey(at: first, of: rows.index) else { return [] }
      // Records with equal values are in the order of their nodes, also in a descending order.
      let values = Array(row.dropLast(StoredIndex.nodeByteCount))
      let rest: IndexRange
      if rows.isDescending {
        let end = IndexRange.end(ofValues: values)
        rest = IndexRange(lower: range.lower, upper: end)
        let passed = IndexRange(lower: end, upper: range.upper)
        query.offset -= try reader.total(of: rows.index, in: passed).rowCount
      } else {
        rest = IndexRange(lower: row, upper: range.upper)
        query.offset = 0
      }
      let others = ranges.dropFirst(place + 1)
      return rows.isDescending ? others.reversed() + [rest] : [rest] + others
    }
    return []
  }

  /// Up to this offset, passing the rows costs less than finding the first one of the window.
  private static var passedOffset: Int { 64 }

  /// The initial capacity for matches.
  private static var usualMatchCount: Int { 32 }

  /// Whether a node is behind a place by its number.
  private func isNode(_ node: UInt64, behind place: RecordPlace) -> Bool {
    query.isReversed ? node < place.node : node > place.node
  }

  private func window(of matches: [QueryMatch]) -> ArraySlice<QueryMatch> {
    let rest = matches.dropFirst(query.offset)
    return query.limit.map { rest.prefix($0) } ?? rest
  }
}

extension QueryRun {
  /// Reads every record of the type.
  private mutating func scan(
    _ reader: borrowing StoreReader, _ source: SnapshotSource, _ computing: Computing
  ) throws {
    if query.order.isEmpty, query.isReversed { return try scanDown(reader, source, computing) }
    let firstNode =
      query.order.isEmpty && query.uniqueBy.isEmpty ? query.after.map { $0.node + 1 } : nil
    guard recordCount >= (try reader.snapshot.count(of: reader.tables.nodes)) / 4 else {
      var nodes = try reader.nodes(ofType: type, from: firstNode ?? 0)
      while let node = try nodes.next(reader) {
        let body = try reader.countedBody(of: RecordKey(type: type, node: node))
        scannedCount += 1
        guard try take(node, body, isExact: false, reader, source, computing) else { return }
      }
      return
    }
    // Skipping the others costs less than a search for each.
    let start = firstNode.map { Array(copying: IntegerKey($0).bytes.span) }
    try reader.snapshot.scan(reader.tables.nodes, from: start) { key, value in
      guard let node = key.bigEndian(at: 0) else {
        throw StoreError.damaged("nodes", "a key has \(key.count) bytes instead of 8")
      }
      if let only = NodeRow.onlyRecord(ofType: type, in: value) {
        let body = value.extracting(only.bodyStart..<value.count)
        return try take(scanned: body, only.header, node, reader, source, computing)
      }
      let row = try NodeRow(value, node: node)
      guard let index = row.index(ofType: type) else { return true }
      return try take(
        scanned: row.body(index), row.header(index), node, reader, source, computing)
    }
  }

  /// Takes a record of a scan if it matches.
  @inline(__always)
  private mutating func take(
    scanned body: Span<UInt8>, _ header: RecordHeader, _ node: UInt64,
    _ reader: borrowing StoreReader, _ source: SnapshotSource, _ computing: Computing
  ) throws -> Bool {
    guard header.matches(body) else {
      throw reader.damagedRecord(
        RecordKey(type: type, node: node), "its checksum does not fit its bytes")
    }
    scannedCount += 1
    return try take(node, body, isExact: false, reader, source, computing)
  }

  /// Reads records of the type in descending order of their nodes, until the window is full.
  private mutating func scanDown(
    _ reader: borrowing StoreReader, _ source: SnapshotSource, _ computing: Computing
  ) throws {
    try reader.forEachNode(ofType: type, below: query.after?.node ?? .max) { node in
      let body = try reader.countedBody(of: RecordKey(type: type, node: node))
      scannedCount += 1
      return try take(node, body, isExact: false, reader, source, computing)
    }
  }

  /// The nodes of candidates, sorted, without duplicates.
  private func sorted(
    _ candidates: QueryCandidates, _ found: [UInt64], _ reader: borrowing StoreReader
  ) throws -> [UInt64] {
    var nodes = found
    if case .identifiers(let identifiers) = candidates {
      for identifier in identifiers {
        if let node = try reader.node(identifier) { nodes.append(node) }
      }
    }
    nodes.sortDistinct()
    if !excluded.isEmpty { nodes.removeAll(where: excludes) }
    return nodes
  }

  private func isExcluded(_ node: UInt64) -> Bool {
    !excluded.isEmpty && excludes(node)
  }

  @inline(never)
  private func excludes(_ node: UInt64) -> Bool { excluded.contains(node) }

  /// Whether the window is full and no later record can come before those in it.
  private var isFull: Bool { matches.count >= query.target }

  /// Takes a record if it matches.
  ///
  /// - Returns: Whether more records may be needed.
  private mutating func take(
    _ node: UInt64, _ body: Span<UInt8>, isExact: Bool, _ reader: borrowing StoreReader,
    _ source: SnapshotSource, _ computing: Computing
  ) throws -> Bool {
    guard try isExact || filter.mayMatch(body, source), !isExcluded(node) else { return true }
    guard !comparesValues, query.uniqueBy.isEmpty, isExact || filter.rest.isEmpty else {
      do {
        return try takeComparing(node, body, isExact: isExact, reader, source, computing)
      } catch is SkippedRecord {
        return true
      }
    }
    try keep(node, body)
    return !isFull
  }

  private mutating func keep(_ node: UInt64, _ body: Span<UInt8>) throws {
    let match = QueryMatch(node: node, body)
    if let sink { try sink.take(match) } else { matches.append(match) }
  }

  /// Takes a record that may match, if its values have to be read.
  @inline(never)
  private mutating func takeComparing(
    _ node: UInt64, _ body: Span<UInt8>, isExact: Bool, _ reader: borrowing StoreReader,
    _ source: SnapshotSource, _ computing: Computing
  ) throws -> Bool {
    func value(_ field: RecordField) throws -> QueryValue {
      try Self.value(field, node, body, reader, source, computing)
    }
    if !isExact {
      for part in filter.rest {
        if case .search(let fields, let search) = part {
          if !search.matches(try scan(fields, body, value)) { return true }
        } else if try !part.matches(value) {
          return true
        }
      }
    }
    if !query.uniqueBy.isEmpty {
      guard seen.insert(try query.uniqueBy.map(value)).inserted else { return true }
    }
    guard comparesValues else {
      if query.order.isEmpty, let after = query.after, !isNode(node, behind: after) {
        return true
      }
      try keep(node, body)
      return !isFull
    }
    let values = try query.order.map { order -> QueryValue in
      switch order {
      case .field(let field, _): return try value(field)
      case .relevance:
        guard let relevance, let (fields, search) = query.searched else { return .integer(0) }
        let scanned = try scan(fields, body, value)
        let counts = search.counts(in: scanned)
        return .integer(Int64(relevance.value(counts, length: scanned.words.count)))
      case .identifiers(let positions):
        let identifier = try reader.identifier(of: node)
        return .integer(Int64(positions[ByteString(identifier)] ?? .max))
      }
    }
    if let after = query.after, !isInOrder(after.values, after.node, values, node) { return true }
    matches.append(QueryMatch(node: node, body, values: values))
    // Matches beyond the window are removed from time to time.
    if let limit = query.target.keepingLimit, matches.count >= limit {
      sort()
      matches.removeLast(matches.count - query.target)
    }
    return true
  }

  static func value(
    _ field: RecordField, _ node: UInt64, _ body: Span<UInt8>, _ reader: borrowing StoreReader,
    _ source: SnapshotSource, _ computing: Computing
  ) throws -> QueryValue {
    switch field {
    case .identifier: .string(try reader.identifier(of: node))
    case .named(let path), .child(let path): try path.value(in: body, source)
    case .children: try reader.children(in: body)
    case .computed(let number, _), .computedChild(let number): try computing(number, node)
    }
  }

  /// Whether a place comes before another by all keys, and then by node number.
  private func isInOrder(
    _ left: [QueryValue], _ node: UInt64, _ right: [QueryValue], _ otherNode: UInt64
  ) -> Bool {
    for (index, order) in query.order.enumerated() {
      let one = left[index]
      let other = right[index]
      if one == other { continue }
      return (one < other) != (order.isDescending != query.isReversed)
    }
    return query.isReversed ? node > otherNode : node < otherNode
  }

  /// Sorts by all keys, and then by node number.
  private mutating func sort() {
    guard comparesValues else { return }
    matches = matches.ordered { isInOrder($0.values, $0.node, $1.values, $1.node) }
  }
}

/// Takes the matches of a query one by one.
protocol MatchSink: AnyObject {
  /// Takes a match; its body is valid during the call.
  func take(_ match: QueryMatch) throws
}

/// Thrown by a computing closure to skip a record.
struct SkippedRecord: Error {}

extension Int {
  /// The number of matches at which those beyond a window of this size are removed; `nil` for a
  /// window that is too large.
  fileprivate var keepingLimit: Int? { self < 1 << 20 ? 4 * self + 1000 : nil }
}

extension QueryRun {
  /// Visits ranges of an index until the window is full.
  private mutating func go(
    _ visit: IndexVisit, _ reader: borrowing StoreReader, _ source: SnapshotSource,
    _ computing: Computing
  ) throws {
    if visit.isPlaceCutOff { throw CutOffValue() }
    // The rest of the group at the place has a direction of its own.
    if let rest = visit.restOfGroup {
      try goStraight(visit, rest, isDown: query.isReversed, reader, source, computing)
    }
    for range in visit.isDescending ? visit.ranges.reversed() : visit.ranges where !isFull {
      if visit.isDescending == query.isReversed || comparesValues {
        try goStraight(visit, range, isDown: visit.isDescending, reader, source, computing)
      } else {
        try goByGroups(visit, range, reader, source, computing)
      }
    }
  }

  /// Takes the record of a row.
  private mutating func take(
    row node: UInt64, _ visit: IndexVisit, _ reader: borrowing StoreReader,
    _ source: SnapshotSource, _ computing: Computing
  ) throws {
    if visit.isExact, !comparesValues, !isExcluded(node) {
      matches.append(QueryMatch(node: node))
      return
    }
    guard let body = try unsafe source.body(of: RecordKey(type: type, node: node)) else { return }
    // The bytes live as long as the reader's snapshot.
    let bytes = unsafe Span<UInt8>(_unsafeBytes: body)
    _ = try take(node, bytes, isExact: visit.isExact, reader, source, computing)
  }

  /// Visits rows in their order, or downwards, until the window is full, and then to the end of the group.
  private mutating func goStraight(
    _ visit: IndexVisit, _ range: IndexRange, isDown: Bool, _ reader: borrowing StoreReader,
    _ source: SnapshotSource, _ computing: Computing
  ) throws {
    var group: [UInt8] = []
    try reader.forEachRow(of: visit.index, in: range, reversed: isDown) { key in
      let node = try visit.index.node(ofRow: key)
      let value = visit.group(ofRow: key)
      if comparesValues {
        let isNew = !value.hasSameBytes(as: group.span)
        if isNew, isFull { return false }
        if isNew { group = Array(copying: value) }
      } else {
        if isFull { return false }
        if visit.isCutOff(value) { throw CutOffValue() }
      }
      try take(row: node, visit, reader, source, computing)
      return true
    }
  }

  /// Visits rows in the order of the visit; rows of one value are taken in the order of the result.
  ///
  /// That is upwards in a descending order, and downwards if an ascending visit reverses one.
  private mutating func goByGroups(
    _ visit: IndexVisit, _ range: IndexRange, _ reader: borrowing StoreReader,
    _ source: SnapshotSource, _ computing: Computing
  ) throws {
    var (lower, upper) = (range.lower, range.upper)
    // The value of the previous row, in reused memory.
    var last: [UInt8] = []
    while !isFull {
      // Rows with a value of their own are taken one by one.
      last.removeAll(keepingCapacity: true)
      var lastNode: UInt64?
      var isShared = false
      let rest = IndexRange(lower: lower, upper: upper)
      try reader.forEachRow(of: visit.index, in: rest, reversed: visit.isDescending) { key in
        let node = try visit.index.node(ofRow: key)
        let value = visit.group(ofRow: key)
        if visit.isCutOff(value) { throw CutOffValue() }
        if let lastNode {
          isShared = value.hasSameBytes(as: last.span)
          if isShared { return false }
          try take(row: lastNode, visit, reader, source, computing)
          if isFull { return false }
        }
        last.removeAll(keepingCapacity: true)
        // Read during the call only.
        unsafe value.withUnsafeBytes { unsafe last.append(contentsOf: $0) }
        lastNode = node
        return true
      }
      guard let lastNode, !isFull else { return }
      guard isShared else { return try take(row: lastNode, visit, reader, source, computing) }
      let group = IndexRange(values: last)
      try goStraight(visit, group, isDown: query.isReversed, reader, source, computing)
      if visit.isDescending { upper = last } else { lower = group.upper ?? last }
    }
  }
}
