import LMDB
import ModelCore

/// Answers one query over one version of the store.
///
/// The bodies are compared with the filter as they are stored; only what the result shows has to be
/// decoded, by the caller.
struct QueryRun {
  /// Finds values that only the caller knows: by the number of a field, and the node.
  typealias Computing = (Int, UInt64) throws -> QueryValue

  /// A record that matches, with the values that the order compares.
  private struct Match {
    let node: UInt64
    let values: [QueryValue]
  }

  private let query: RecordQuery
  private let type: UInt32
  private let recordCount: Int
  private let choice: QueryPlanner.Choice
  private var matches: [Match] = []
  private var seen: Set<[QueryValue]> = []

  init(_ query: RecordQuery, _ reader: borrowing StoreReader) throws {
    self.query = query
    let row = try reader.typeRow(named: query.typeName)
    type = row?.number ?? 0
    let pending = reader.pending?.recordCount(ofTypeNamed: query.typeName)
    recordCount = Int(clamping: pending ?? row?.recordCount ?? 0)
    choice =
      recordCount == 0
      ? .nothing
      : try QueryPlanner(query, type: type, recordCount: recordCount, reader).choice(reader)
  }

  /// How the query is answered.
  var plan: QueryPlan {
    var isSorted = !query.order.isEmpty
    let access: QueryPlan.Access
    switch choice {
    case .nothing:
      access = .nothing
      isSorted = false
    case .candidates(let candidates): access = candidates.access
    case .ordered(let index, let ranges, _):
      access = .index(field: index.field.name, rangeCount: ranges.count, isOrdered: true)
      isSorted = query.order.count > 1
    case .scan: access = .scan
    }
    return QueryPlan(
      typeName: query.typeName, recordCount: recordCount, access: access, isSorted: isSorted)
  }

  /// Finds the nodes of the result, in its order.
  mutating func nodes(
    _ reader: borrowing StoreReader, computing: Computing
  ) throws -> ArraySlice<UInt64> {
    switch choice {
    case .nothing: return []
    case .scan:
      try reader.forEachRecord(ofType: type) { key, body in
        try take(key.node, body, reader, computing)
      }
      sort()
    case .candidates(let candidates):
      for node in try nodes(of: candidates, reader) {
        guard let body = try reader.body(of: RecordKey(type: type, node: node)) else { continue }
        guard try take(node, body, reader, computing) else { break }
      }
      sort()
    case .ordered(let index, let ranges, let isDescending):
      for range in isDescending ? ranges.reversed() : ranges where !isFull {
        if isDescending {
          try visitDown(index, range, reader, computing)
        } else {
          try visitUp(index, range, reader, computing)
        }
      }
      sort()
    }
    let rest = matches.map(\.node).dropFirst(query.offset)
    return query.limit.map { rest.prefix($0) } ?? rest
  }
}

extension QueryRun {
  /// Nodes of which every one that matches is one, in the order of their numbers.
  private func nodes(
    of candidates: QueryCandidates, _ reader: borrowing StoreReader
  ) throws -> [UInt64] {
    var nodes: [UInt64] = []
    try add(candidates, to: &nodes, reader)
    nodes.sort()
    var last: UInt64?
    nodes.removeAll { node in
      defer { last = node }
      return node == last
    }
    return nodes
  }

  private func add(
    _ candidates: QueryCandidates, to nodes: inout [UInt64], _ reader: borrowing StoreReader
  ) throws {
    switch candidates {
    case .identifiers(let identifiers):
      for identifier in identifiers {
        if let node = try reader.node(identifier) { nodes.append(node) }
      }
    case .rows(let index, let ranges):
      for range in ranges {
        try reader.forEachRow(of: index, in: range) { key in
          nodes.append(try Self.node(ofRow: key, index))
          return true
        }
      }
    case .union(let parts): for part in parts { try add(part, to: &nodes, reader) }
    }
  }

  private static func node(ofRow key: Span<UInt8>, _ index: StoredIndex) throws -> UInt64 {
    guard let node = StoredIndex.node(ofRow: key) else {
      throw StoreError.damaged("index on \(index.field.name)", "a row is malformed")
    }
    return node
  }

  /// Whether the window is full where what comes next can't come before what is there.
  private var isFull: Bool { matches.count >= query.target }

  /// Takes a record if it matches.
  ///
  /// - Returns: Whether more may be needed.
  private mutating func take(
    _ node: UInt64, _ body: Span<UInt8>, _ reader: borrowing StoreReader, _ computing: Computing
  ) throws -> Bool {
    func value(_ field: RecordField) throws -> QueryValue {
      switch field {
      case .identifier: .string(try reader.identifier(of: node))
      case .named(let path): try path.value(in: body)
      case .computed(let number, _): try computing(number, node)
      }
    }
    guard try query.filter.matches(value) else { return true }
    if !query.uniqueBy.isEmpty {
      guard seen.insert(try query.uniqueBy.map(value)).inserted else { return true }
    }
    let values = try query.order.map { order -> QueryValue in
      switch order {
      case .field(let field, _): return try value(field)
      case .identifiers(let places):
        let identifier = try reader.identifier(of: node)
        return .integer(Int64(places[ByteString(identifier)] ?? .max))
      }
    }
    matches.append(Match(node: node, values: values))
    if query.order.isEmpty { return !isFull }
    // What can no longer come into the window is let go from time to time.
    if let limit = query.target.keepingLimit, matches.count >= limit {
      sort()
      matches.removeLast(matches.count - query.target)
    }
    return true
  }

  /// Sorts by all keys, and by node number what they call equal.
  private mutating func sort() {
    guard !query.order.isEmpty else { return }
    let isDescending = query.order.map(\.isDescending)
    matches.sort { left, right in
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

extension Int {
  /// When so many matches are kept, those beyond a window of this size are let go; `nil` for one that
  /// is too large to matter.
  fileprivate var keepingLimit: Int? { self < 1 << 20 ? 4 * self + 1000 : nil }
}

extension QueryRun {
  /// Takes what a row of the order's index speaks of.
  private mutating func take(
    row node: UInt64, _ reader: borrowing StoreReader, _ computing: Computing
  ) throws {
    guard let body = try reader.body(of: RecordKey(type: type, node: node)) else { return }
    _ = try take(node, body, reader, computing)
  }

  /// Whether rows that share their bytes are in the order of the result: no other key orders them, and
  /// the bytes are the whole value.
  private func isOrdered(_ value: Span<UInt8>) -> Bool {
    guard query.order.count == 1, value.count > 1 else { return query.order.count == 1 }
    let kind = value[0]
    let isContent =
      kind == QueryValue.Kind.string.rawValue || kind == QueryValue.Kind.data.rawValue
    return !isContent || value[value.count - 1] == 1
  }

  /// Goes up an index until the window is full and a new value begins.
  private mutating func visitUp(
    _ index: StoredIndex, _ range: IndexRange, _ reader: borrowing StoreReader,
    _ computing: Computing
  ) throws {
    var group: [UInt8] = []
    try reader.forEachRow(of: index, in: range) { key in
      let node = try Self.node(ofRow: key, index)
      let value = key.extracting(
        StoredIndex.numberByteCount..<(key.count - StoredIndex.nodeByteCount))
      if isFull {
        if isOrdered(value) || !value.hasSameBytes(as: group.span) { return false }
      }
      if !value.hasSameBytes(as: group.span) { group = Array(copying: value) }
      try take(row: node, reader, computing)
      return true
    }
  }

  /// Goes down an index in the same way; rows of one value are still taken upwards.
  private mutating func visitDown(
    _ index: StoredIndex, _ range: IndexRange, _ reader: borrowing StoreReader,
    _ computing: Computing
  ) throws {
    var upper = range.upper
    while !isFull {
      // Rows that are alone with their value are taken as they come.
      var last: (value: [UInt8], node: UInt64)?
      var isShared = false
      let rest = IndexRange(lower: range.lower, upper: upper)
      try reader.forEachRow(of: index, in: rest, reversed: true) { key in
        let node = try Self.node(ofRow: key, index)
        let value = key.extracting(
          StoredIndex.numberByteCount..<(key.count - StoredIndex.nodeByteCount))
        if let last {
          isShared = value.hasSameBytes(as: last.value.span)
          if isShared { return false }
          try take(row: last.node, reader, computing)
          if isFull { return false }
        }
        last = (Array(copying: value), node)
        return true
      }
      guard let last, !isFull else { return }
      guard isShared else { return try take(row: last.node, reader, computing) }
      try visitUp(index, IndexRange(prefix: last.value), reader, computing)
      upper = last.value
    }
  }
}
