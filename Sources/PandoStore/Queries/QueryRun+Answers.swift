import FoundationEssentials
import PandoLMDB
import PandoModels
import PandoSystem

/// Answers questions about the records of a query in one version of the store.
struct AnswerRun {
  private let source: SnapshotSource
  private let computing: QueryRun.Computing

  init(_ source: SnapshotSource, _ computing: @escaping QueryRun.Computing) {
    self.source = source
    self.computing = computing
  }

  /// How many rows of one value are read before the others are counted by page.
  private static let lookedAtMaximum = 64

  func answer(
    _ question: RecordQuestion, to query: RecordQuery, _ reader: borrowing StoreReader
  ) throws -> Tally {
    if let parts = try Self.shortParts(of: question, query, reader) {
      return .combined(try parts.map { try answer($0, to: query, reader) })
    }
    var run = try Self.run(question, query, reader)
    if case .counted(let index, let ranges) = run.choice, let path = question.summed,
      let place = index.sumPlace(of: path)
    {
      var sum = NumberSum()
      for range in ranges { sum.add(try reader.total(of: index, in: range).sums[place]) }
      return .sum(sum)
    }
    switch question.measure {
    case .count, .exists: return .count(try count(&run, reader))
    default: break
    }
    let fromRows: Tally? =
      switch run.choice {
      case .valued(let rows): try valueCounts(rows, reader).map { .groups($0) }
      case .covered(let rows): try tally(question, rows, reader)
      default: nil
      }
    if let fromRows { return fromRows }
    // The index has cut off some values.
    if run.hasValuesInRows { run = try QueryRun(Self.unordered(query), reader) }
    return try tally(question, &run, reader)
  }

  /// The run of the query that answers a question.
  static func run(
    _ question: RecordQuestion, _ query: RecordQuery, _ reader: borrowing StoreReader
  ) throws -> QueryRun {
    if let first = endOfIndex(question, query) {
      let run = try QueryRun(first, reader)
      if case .scan = run.choice {} else { return run }
    }
    if let path = question.summed,
      try reader.directory.catalog.type(named: query.typeName, in: reader).indexes
        .contains(where: { $0.sumPlace(of: path) != nil })
    {
      let run = try QueryRun(unordered(query), reader, .sum(path))
      if case .counted = run.choice { return run }
    }
    var query = query
    var purpose = QueryPurpose.records
    switch question.measure {
    case .count: purpose = .count
    case .exists:
      query.limit = min(query.limit ?? 1, 1)
      purpose = .count
    default:
      let paths = question.fields.compactMap(\.path)
      guard paths.count == question.fields.count, question.isAnsweredByRows,
        !question.measure.sums.contains(where: { $0.form == .unknown })
      else { break }
      purpose = question.countsValues ? .counts(paths[0]) : .values(paths)
    }
    return try QueryRun(unordered(query), reader, purpose)
  }

  /// The parts of a combined question, if an index gives the answer of each without visiting its rows; `nil` otherwise.
  static func shortParts(
    of question: RecordQuestion, _ query: RecordQuery, _ reader: borrowing StoreReader
  ) throws -> [RecordQuestion]? {
    guard case .combined(let measures) = question.measure else { return nil }
    let parts = measures.map { RecordQuestion($0.map { question.fields[$0] }) }
    for part in parts {
      switch try run(part, query, reader).choice {
      case .all, .counted: continue
      case .ordered where endOfIndex(part, query) != nil: continue
      default: return nil
      }
    }
    return parts
  }

  /// The query of the one record at an end of an index, if the rest of the filter allows it.
  private static func endOfIndex(_ question: RecordQuestion, _ query: RecordQuery) -> RecordQuery? {
    var isMaximum = true
    if case .minimum = question.measure { isMaximum = false }
    switch question.measure {
    case .minimum(let number), .maximum(let number):
      let field = question.fields[number]
      guard case .named(let path) = field, !path.hasElements, query.limit == nil, query.offset == 0,
        query.uniqueBy.isEmpty,
        query.after == nil
      else { return nil }
      var first = query
      first.filter = .and(parts(query.filter) + [.or(values(of: field))])
      first.order = [.field(field, isDescending: isMaximum)]
      first.limit = 1
      return first
    default: return nil
    }
  }

  private static func parts(_ filter: FilterTree<RecordField>) -> [FilterTree<RecordField>] {
    if case .and(let parts) = filter { parts } else { [filter] }
  }

  /// A condition that holds for each counted value: it is not below the lowest of its kind.
  private static func values(of field: RecordField) -> [FilterTree<RecordField>] {
    let lowest: [QueryValue] = [
      .bool(false), .double(-.infinity), .string(""), .data(Data()),
      .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
    ]
    return lowest.map { .compare(field, .greaterOrEqual, $0) }
  }

  /// The query without its order, if that has no effect.
  @inline(never)
  private static func unordered(_ query: RecordQuery) -> RecordQuery {
    var query = query
    if query.limit == nil, query.offset == 0, query.after == nil { query.order = [] }
    return query
  }

  /// The number of records.
  private func count(_ run: inout QueryRun, _ reader: borrowing StoreReader) throws -> Int {
    let query = run.query
    var total = 0
    switch run.choice {
    case .all: total = run.recordCount
    case .counted(let index, let ranges):
      for range in ranges where total < query.target {
        total += try reader.countRows(of: index, in: range, atMost: query.target - total)
      }
    default: return try run.find(reader, source, computing: computing).count
    }
    return min(max(0, total - query.offset), query.limit ?? .max)
  }

  /// Counts record by record.
  @inline(never)
  private func tally(
    _ question: RecordQuestion, _ run: inout QueryRun, _ reader: borrowing StoreReader
  ) throws -> Tally {
    let sink = TallySink(question, type: run.type, source, computing)
    try run.forEach(reader, source, computing: computing, sink)
    return sink.node.tally(isWhole: false)
  }

  /// Counts by the rows of an index.
  ///
  /// - Returns: `nil` if some values were cut off, or different elements are one key.
  @inline(never)
  private func tally(
    _ question: RecordQuestion, _ rows: CoveringRows, _ reader: borrowing StoreReader
  ) throws -> Tally? {
    let node = question.makeNode(isRunning: false)
    var part = Array(repeating: QueryValue.null, count: question.fields.count)
    let isElement = rows.positions.map { rows.index.fields[$0].hasElements }
    var forms: [NumberForm?] = Array(repeating: nil, count: question.fields.count)
    for sum in question.measure.sums { forms[sum.field] = sum.form }
    let fieldCount = (rows.positions.max() ?? -1) + 1
    var isWhole = true
    for range in rows.ranges where isWhole {
      try reader.forEachRow(of: rows.index, in: range) { key in
        let row = StoredIndex.value(ofRow: key)
        var start = 0
        for field in 0..<fieldCount {
          let end = IndexValue.end(ofValueIn: row, from: start).place
          for (place, position) in rows.positions.enumerated() where position == field {
            let found = end <= row.count ? IndexValue.value(row.extracting(start..<end)) : nil
            let form = forms[place]
            guard let value = form == nil ? found : found.flatMap({ form?.restored($0) }) else {
              isWhole = false
              return false
            }
            part[place] = isElement[place] ? .elements([value]) : value
          }
          start = end
        }
        node.change(part, isAdded: true)
        return true
      }
    }
    guard isWhole else { return nil }
    let tally = node.tally(isWhole: false)
    // Elements that are one key would count their record more than once.
    if isElement.contains(true), question.sharesKeys(tally) { return nil }
    return tally
  }

  /// Passes each entity of a query with what it adds to an answer.
  @inline(never)
  func forEachPart(
    _ question: RecordQuestion, of query: RecordQuery, _ reader: borrowing StoreReader,
    _ body: (ByteString, [QueryValue]) throws -> Void
  ) throws {
    var run = try QueryRun(query, reader)
    for match in try run.find(reader, source, computing: computing) {
      var bytes = unsafe match.body
      let part = try question.fields.map { field in
        try unsafe source.value(
          of: field, RecordKey(type: run.type, node: match.node), &bytes, computing)
      }
      try body(ByteString(try reader.identifier(of: match.node)), part)
    }
  }

  /// The part of a record in an answer; `nil` if the record does not match or does not exist.
  @inline(never)
  func part(
    _ question: RecordQuestion, of query: RecordQuery, _ key: RecordKey,
    _ reader: borrowing StoreReader
  ) throws -> [QueryValue]? {
    guard let body = try unsafe source.body(of: key) else { return nil }
    let filter = BodyFilter(query.filter)
    // The bytes live as long as the reader's snapshot.
    guard try filter.mayMatch(unsafe Span(_unsafeBytes: body), source) else { return nil }
    func value(_ field: RecordField) throws -> QueryValue {
      if case .children = field {
        return try reader.children(in: unsafe Span(_unsafeBytes: body))
      }
      var known = unsafe Optional(body)
      return try unsafe source.value(of: field, key, &known, computing)
    }
    for condition in filter.rest where try !condition.matches(value) { return nil }
    return try question.fields.map(value)
  }

  /// The number of rows for each value of the ordering field.
  ///
  /// - Returns: `nil` if some values were cut off.
  private func valueCounts(
    _ rows: OrderedRows, _ reader: borrowing StoreReader
  ) throws -> [GroupValues: Tally]? {
    var counts: [GroupValues: Tally] = [:]
    var isWhole = true
    for range in rows.ranges {
      var lower: [UInt8]? = range.lower
      while let start = lower {
        lower = nil
        var group: [UInt8] = []
        var count = 0
        func end() throws {
          if count == 0 { return }
          guard let value = IndexValue.value(group.span.extracting(rows.pinned.count..<group.count))
          else {
            isWhole = false
            return
          }
          counts[.one(value), default: .count(0)].add(.count(count))
          count = 0
        }
        try reader.forEachRow(of: rows.index, in: IndexRange(lower: start, upper: range.upper)) {
          key in
          let value = StoredIndex.value(ofRow: key)
          // A value is a prefix of another only if that is a decimal number.
          let isSame =
            count > 0 && value.count >= group.count
            && value.extracting(0..<group.count).hasSameBytes(as: group.span)
            && (value.count == group.count || value[group.count] != DecimalNumber.mark)
          if !isSame {
            try end()
            guard isWhole else { return false }
            let place = IndexValue.end(ofValueIn: value, from: rows.pinned.count).place
            group = Array(copying: value.extracting(0..<min(place, value.count)))
          }
          count += 1
          guard count == Self.lookedAtMaximum else { return true }
          // There may be many: they are counted by page, and skipped.
          count = try reader.countRows(of: rows.index, in: IndexRange(values: group))
          lower = IndexRange.end(ofValues: group)
          return false
        }
        try end()
        guard isWhole else { return nil }
      }
    }
    return counts
  }
}

extension SnapshotSource {
  /// The value of a field of a record, whose body is read if it is `nil` and needed.
  func value(
    of field: RecordField, _ key: RecordKey, _ body: inout UnsafeRawBufferPointer?,
    _ computing: QueryRun.Computing
  ) throws -> QueryValue {
    switch field {
    case .identifier: return try identifier(ofNode: key.node).map { .string($0) } ?? .null
    case .computed(let number, _), .computedChild(let number):
      return try computing(number, key.node)
    case .children: return .composite
    case .named(let path), .child(let path):
      if unsafe body == nil { unsafe body = try self.body(of: key) }
      guard let bytes = unsafe body else { return .null }
      // The bytes live as long as the reader's snapshot.
      return try path.value(in: unsafe Span(_unsafeBytes: bytes), self)
    }
  }
}

/// Counts the records of a query for a question.
private final class TallySink: MatchSink {
  let node: any TallyNode
  private let fields: [RecordField]
  private let type: UInt32
  private let source: SnapshotSource
  private let computing: QueryRun.Computing
  /// The part of the last record, in reused memory.
  private var part: [QueryValue]

  init(
    _ question: RecordQuestion, type: UInt32, _ source: SnapshotSource,
    _ computing: @escaping QueryRun.Computing
  ) {
    node = question.makeNode(isRunning: false)
    fields = question.fields
    part = Array(repeating: .null, count: fields.count)
    self.type = type
    self.source = source
    self.computing = computing
  }

  func take(_ match: QueryMatch) throws {
    var body = unsafe match.body
    for (position, field) in fields.enumerated() {
      part[position] = try unsafe source.value(
        of: field, RecordKey(type: type, node: match.node), &body, computing)
    }
    node.change(part, isAdded: true)
  }
}

extension StoreReader {
  /// The number of rows of an index in a range of values, at most `limit`.
  func countRows(of index: StoredIndex, in range: IndexRange, atMost limit: Int = .max) throws
    -> Int
  {
    if index.keepsTotals { return try min(limit, total(of: index, in: range).rowCount) }
    let prefix = index.prefix
    return try snapshot.count(
      in: tables.indexRows, from: prefix + range.lower,
      upTo: range.upper.map { prefix + $0 } ?? IndexRange.successor(of: prefix), atMost: limit)
  }
}
