import PandoLMDB
import PandoModels
import PandoSystem

/// Finds the records that an index of words has for a search.
///
/// The records of the rarest word are looked up among those of the others; the words that begin with a prefix
/// come last, and are compared with what is left.
struct WordMatches {
  /// The nodes, ascending.
  private(set) var nodes: [UInt64] = []
  /// The relevance of each node; empty unless it is wanted.
  private(set) var relevances: [Int] = []

  private let index: StoredIndex
  private let search: WordSearch
  private let relevance: WordRelevance?
  /// The words of each unit, as values of rows.
  private let words: [[(value: [UInt8], count: Int)]]
  private let limit: Int

  /// Finds the records.
  ///
  /// - Parameters:
  ///   - search: The search; sequences of words are not looked at.
  ///   - index: An index of words.
  ///   - limit: As many nodes are enough.
  ///   - isRanked: Whether relevances are wanted.
  ///   - reader: The reader.
  /// - Throws: ``StoreError`` `damaged`; `LMDBError`.
  init(
    _ search: WordSearch, _ index: StoredIndex, limit: Int, isRanked: Bool,
    _ reader: borrowing StoreReader
  ) throws {
    self.index = index
    self.search = search
    self.limit = limit
    let counts = try reader.wordCounts(of: index, search)
    words = counts.words
    relevance = isRanked ? WordRelevance(counts.statistics) : nil
    if search.units.isEmpty || limit <= 0 { return }
    if search.matching == .anyWord { try findAny(reader) } else { try findAll(reader) }
  }

  /// How many rows a word may have for each match, before the texts are read instead of its rows.
  private static let rowsPerText = 32
  /// The first part of the rarest word's rows.
  private static let firstPartCount = 512

  /// A record that may match, with the counts of its units.
  private struct Found {
    let node: UInt64
    var relevance = 0
  }

  private func rowCount(_ unit: Int) -> Int { words[unit].reduce(0) { $0 + $1.count } }

  private mutating func findAll(_ reader: borrowing StoreReader) throws {
    let counts = search.units.indices.map(rowCount)
    if counts.contains(0) { return }
    // Whole words from the rarest one on; a prefix comes last.
    let order = search.units.indices.sorted { one, other in
      (words[one].count > 1 ? 1 : 0, counts[one]) < (words[other].count > 1 ? 1 : 0, counts[other])
    }
    guard let first = order.first else { return }
    if words[first].count > 1 {
      // Only a prefix.
      try appendUnion(first, reader)
      return
    }
    var rows = try WordRows(
      index, words[first][0].value, from: 0, reader.snapshot.cursor(in: reader.tables.indexRows))
    var partCount = limit == .max ? Int.max : Self.firstPartCount
    while rows.node != nil, nodes.count < limit {
      var found: [Found] = []
      while let node = rows.node, found.count < partCount {
        try found.append(Found(node: node, relevance: part(first, rows)))
        try rows.moveToNext()
      }
      for unit in order.dropFirst() where !found.isEmpty {
        if words[unit].count > 1 {
          try keep(&found, startingWith: unit, counts[unit], reader)
        } else {
          try keep(&found, with: unit, reader)
        }
      }
      for one in found { append(one) }
      partCount = partCount.multipliedReportingOverflow(by: 4).overflow ? .max : 4 * partCount
    }
    if nodes.count > limit { nodes.removeLast(nodes.count - limit) }
  }

  private mutating func append(_ found: Found) {
    nodes.append(found.node)
    if relevance != nil { relevances.append(found.relevance) }
  }

  @inline(__always)
  private func part(_ unit: Int, _ rows: borrowing WordRows) throws -> Int {
    guard let relevance else { return 0 }
    let row = try rows.row()
    return relevance.part(ofUnit: unit, count: row.count, length: row.length)
  }

  /// Keeps the records that have a word.
  private func keep(
    _ found: inout [Found], with unit: Int, _ reader: borrowing StoreReader
  ) throws {
    var rows = try WordRows(
      index, words[unit][0].value, from: found[0].node,
      reader.snapshot.cursor(in: reader.tables.indexRows))
    var count = 0
    for place in found.indices {
      try rows.move(toFirstNotBelow: found[place].node)
      guard let node = rows.node else { break }
      guard node == found[place].node else { continue }
      found[count] = found[place]
      found[count].relevance += try part(unit, rows)
      count += 1
    }
    found.removeLast(found.count - count)
  }

  /// Keeps the records that have a word that begins with a prefix.
  private func keep(
    _ found: inout [Found], startingWith unit: Int, _ rowCount: Int, _ reader: borrowing StoreReader
  ) throws {
    var rowsOfFound: [(count: Int, length: Int)] = Array(repeating: (0, 0), count: found.count)
    if rowCount > Self.rowsPerText * found.count {
      let path = index.fields[0]
      var scanner = WordScanner()
      for place in found.indices {
        let key = RecordKey(type: index.type, node: found[place].node)
        guard let body = try reader.body(of: key) else { continue }
        try path.scan(body, &scanner)
        let prefix = search.units[unit].bytes
        let count = scanner.words.count { scanner.holds($0, prefix, isPrefix: true) }
        rowsOfFound[place] = (count, scanner.words.count)
      }
    } else {
      let end = found[found.count - 1].node
      for word in words[unit] {
        var rows = try WordRows(
          index, word.value, from: found[0].node,
          reader.snapshot.cursor(in: reader.tables.indexRows))
        var place = 0
        while let node = rows.node, node <= end {
          place = Self.place(of: node, in: found, from: place)
          if found[place].node == node {
            let row = try rows.row()
            rowsOfFound[place].count += row.count
            rowsOfFound[place].length = row.length
            try rows.moveToNext()
          } else {
            try rows.move(toFirstNotBelow: found[place].node)
          }
        }
      }
    }
    var count = 0
    for place in found.indices where rowsOfFound[place].count > 0 {
      found[count] = found[place]
      if let relevance {
        let row = rowsOfFound[place]
        found[count].relevance += relevance.part(
          ofUnit: unit, count: row.count, length: row.length)
      }
      count += 1
    }
    found.removeLast(found.count - count)
  }

  /// The place of the first record that is not below a node, which is not above the last one.
  private static func place(of node: UInt64, in found: [Found], from start: Int) -> Int {
    var step = 1
    var low = start
    while low + step < found.count, found[low + step].node < node {
      low += step
      step *= 2
    }
    var high = min(low + step, found.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if found[middle].node < node { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension WordMatches {
  /// The rows of all words of a unit, by node.
  private func union(
    _ unit: Int, _ reader: borrowing StoreReader
  ) throws -> [(node: UInt64, count: Int, length: Int)] {
    var all: [(node: UInt64, count: Int, length: Int)] = []
    all.reserveCapacity(rowCount(unit))
    for word in words[unit] {
      var rows = try WordRows(
        index, word.value, from: 0, reader.snapshot.cursor(in: reader.tables.indexRows))
      while let node = rows.node {
        let row = relevance == nil ? WordRow(count: 1, length: 1) : try rows.row()
        all.append((node, row.count, row.length))
        try rows.moveToNext()
      }
    }
    if words[unit].count < 2 { return all }
    all.sort { $0.node < $1.node }
    var count = 0
    for row in all {
      if count > 0, all[count - 1].node == row.node {
        all[count - 1].count += row.count
      } else {
        all[count] = row
        count += 1
      }
    }
    all.removeLast(all.count - count)
    return all
  }

  private mutating func appendUnion(_ unit: Int, _ reader: borrowing StoreReader) throws {
    for row in try union(unit, reader) {
      let part = relevance?.part(ofUnit: unit, count: row.count, length: row.length) ?? 0
      append(Found(node: row.node, relevance: part))
      if nodes.count >= limit { return }
    }
  }

  /// The records that have all words of one of the terms.
  private mutating func findAny(_ reader: borrowing StoreReader) throws {
    var found: [UInt64: (units: UInt64, counts: [Int], length: Int)] = [:]
    // Counts are kept for relevance only: a search may have thousands of words.
    let none = relevance == nil ? [] : Array(repeating: 0, count: search.units.count)
    for unit in search.units.indices {
      for row in try union(unit, reader) {
        var one = found[row.node] ?? (0, none, row.length)
        one.units |= 1 << UInt64(min(unit, 63))
        if relevance != nil { one.counts[unit] = row.count }
        found[row.node] = one
      }
    }
    let masks = search.terms.map { term in
      term.reduce(UInt64(0)) { $0 | 1 << UInt64(min($1, 63)) }
    }
    for node in found.keys.sorted() {
      guard let one = found[node], masks.contains(where: { one.units & $0 == $0 }) else { continue }
      append(
        Found(node: node, relevance: relevance?.value(one.counts, length: one.length) ?? 0))
      if nodes.count >= limit { return }
    }
  }
}

extension WordMatches {
  /// The most relevant nodes, from the highest relevance on; of equal ones the lower node first.
  ///
  /// - Complexity: O(*n* log *k*) for *k* of *n* nodes.
  func mostRelevant(_ count: Int) -> [UInt64] {
    func comesBefore(_ one: Int, _ other: Int) -> Bool {
      relevances[one] == relevances[other] ? one < other : relevances[one] > relevances[other]
    }
    if count >= nodes.count {
      return nodes.indices.sorted(by: comesBefore).map { nodes[$0] }
    }
    // A heap whose first element is the last one of the window.
    var heap: [Int] = []
    func sink(_ start: Int) {
      var place = start
      while true {
        var last = place
        for child in [2 * place + 1, 2 * place + 2]
        where child < heap.count && comesBefore(heap[last], heap[child]) { last = child }
        if last == place { return }
        heap.swapAt(place, last)
        place = last
      }
    }
    if count == 0 { return [] }
    heap = Array(0..<count)
    for place in (0..<count / 2).reversed() { sink(place) }
    for place in count..<nodes.count where comesBefore(place, heap[0]) {
      heap[0] = place
      sink(0)
    }
    return heap.sorted(by: comesBefore).map { nodes[$0] }
  }
}
