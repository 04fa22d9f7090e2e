import Foundation
import PandoFixtures
import PandoRecords
import PandoStore
import Testing

/// Values of several kinds in one field.
private enum Mixed: Codable, Equatable, QueryRepresentable {
  case nothing
  case flag(Bool)
  case integer(Int)
  case double(Double)
  case text(String)

  static let queryKinds: Set<QueryValue.Kind> = [.null, .bool, .number, .string]

  var queryValue: QueryValue {
    switch self {
    case .nothing: .null
    case .flag(let value): .bool(value)
    case .integer(let value): .integer(Int64(value))
    case .double(let value): .double(value)
    case .text(let text): .string(text)
    }
  }

  init?(queryValue: QueryValue) {
    switch queryValue {
    case .null: self = .nothing
    case .bool(let value): self = .flag(value)
    case .integer(let value): self = .integer(Int(value))
    case .double(let value): self = .double(value)
    case .string(let text): self = .text(text)
    default: return nil
    }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .nothing
    } else if let value = try? container.decode(Bool.self) {
      self = .flag(value)
    } else if let value = try? container.decode(Int.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .nothing: try container.encodeNil()
    case .flag(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .text(let text): try container.encode(text)
    }
  }
}

private struct Row: Model, Codable, Equatable, Queryable {
  var number: Int
  var group: Int?
  var score: Decimal
  var text: String
  var mixed: Mixed

  var modelIdentifier: String? { "Row:\(number)" }

  static let fields: [Field<Row>] = [
    .field(\.number), .indexed(\.group), .field(\.score), .indexed(\.text), .indexed(\.mixed),
  ]
  static let indexes: [FieldIndex<Row>] = [.indexed(\.group, \.score, sums: [])]

  init(_ number: Int, _ random: inout SeededGenerator) {
    self.number = number
    group = [nil, 1, 2].randomElement(using: &random) ?? nil
    score = Decimal(Int.random(in: -2...2, using: &random)) / 10
    // Some of them are longer than an index keeps.
    text =
      (Bool.random(using: &random) ? "" : String(repeating: "é", count: 300))
      + String(Int.random(in: 0...3, using: &random))
    let mixes: [Mixed] = [
      .nothing, .flag(true), .integer(1), .double(1), .double(.nan), .text("1"), .double(0.1),
    ]
    mixed = mixes.randomElement(using: &random) ?? .nothing
  }
}

@Suite struct PageTests {
  private static let orders: [[QueryOrder<Row>]] = [
    [], [.ascending(\.group)], [.descending(\.group)], [.ascending(\.group), .ascending(\.score)],
    [.descending(\.group), .descending(\.score)], [.ascending(\.group), .descending(\.score)],
    [.ascending(\.text)], [.descending(\.text), .ascending(\.number)], [.descending(\.mixed)],
    [.ascending(\.mixed), .descending(\.group)], [.descending(\.score)],
    [.identifiers(["Row:9", "Row:4", "Row:5"])],
  ]
  private static let filters: [Filter<Row>] = [
    .all, \.group == 1, \.group >> [1, 2], \.number > 20, \.group == 2 && \.score <= 0,
    \.text ~= "1", .identifiers((0..<30).map { "Row:\($0)" }),
  ]

  private func withRows(
    _ seed: UInt64, hasIndexes: Bool,
    _ body: (ModelStore, inout SeededGenerator) throws -> Void
  ) throws {
    var random = SeededGenerator(seed: seed)
    let store = try ModelStore.temporary()
    defer { store.close() }
    if hasIndexes { try store.addIndexes(of: [Row.self]) }
    var rows: [Row] = []
    for number in (0..<60).shuffled(using: &random) { rows.append(Row(number, &random)) }
    let all = rows
    try store.write { transaction in
      for row in all { try transaction.set(row) }
    }
    try body(store, &random)
  }

  @Test(arguments: seeds(1), [false, true])
  func `pages forward and back are the whole result`(seed: UInt64, hasIndexes: Bool) throws {
    try withRows(seed, hasIndexes: hasIndexes) { store, random in
      for order in Self.orders {
        for filter in Self.filters {
          var query = Query(filter: filter, order: order)
          let whole = try store.find(query).entities.map(\.number)
          let limit = Int.random(in: 2...16, using: &random)
          query.limit = limit
          var page = try store.page(of: query)
          #expect(page.previous == nil)
          var forward: [[Int]] = [page.entities.map(\.number)]
          while let next = page.next {
            page = try store.page(of: query, at: next)
            try #require(page.entities.count <= limit && !page.entities.isEmpty, "\(query)")
            forward.append(page.entities.map(\.number))
            let back = try store.page(of: query, at: page.previous)
            try #require(
              back.entities.map(\.number) == forward[forward.count - 2], "\(seed) \(query)")
            try #require(back.next?.text == next.text, "\(seed) \(query)")
          }
          try #require(forward.flatMap(\.self) == whole, "\(seed) \(query)")
          var backward = forward.last ?? []
          while let previous = page.previous {
            page = try store.page(of: query, at: previous)
            backward = page.entities.map(\.number) + backward
          }
          try #require(backward == whole, "\(seed) \(query)")
        }
      }
    }
  }

  @Test(arguments: seeds(1), [false, true])
  func `an entity that no write touches is on one page`(seed: UInt64, hasIndexes: Bool) throws {
    try withRows(seed, hasIndexes: hasIndexes) { store, random in
      for order in Self.orders {
        var query = Query(filter: .all, order: order)
        query.limit = Int.random(in: 2...11, using: &random)
        let whole = try store.find(Query(order: order)).entities.map(\.number)
        var touched: Set<Int> = []
        func change(_ edges: [Int?]) throws {
          // The entities at the edges of the page, and some others.
          var deleted: [Int] = []
          var rows = [Row(Int.random(in: 0..<70, using: &random), &random)]
          for number in edges.compactMap(\.self) where Bool.random(using: &random) {
            if Bool.random(using: &random) {
              deleted.append(number)
            } else {
              rows.append(Row(number, &random))
            }
          }
          touched.formUnion(deleted + rows.map(\.number))
          let (gone, changed) = (deleted, rows)
          try store.write { transaction in
            for number in gone { try transaction.deleteIfPresent("Row:\(number)") }
            for row in changed { try transaction.set(row) }
          }
        }
        var page = try store.page(of: query)
        var met = page.entities.map(\.number)
        while let next = page.next {
          try change([page.entities.first?.number, page.entities.last?.number])
          page = try store.page(of: query, at: next)
          met += page.entities.map(\.number)
          if met.count > 1000 { break }
        }
        try #require(
          met.filter { !touched.contains($0) } == whole.filter { !touched.contains($0) },
          "\(seed) \(order)")

        let newer = try store.find(Query(order: order)).entities.map(\.number)
        touched = Set(page.entities.map(\.number))
        met = []
        while let previous = page.previous {
          try change([page.entities.first?.number, page.entities.last?.number])
          page = try store.page(of: query, at: previous)
          met = page.entities.map(\.number) + met
          if met.count > 1000 { break }
        }
        try #require(
          met.filter { !touched.contains($0) } == newer.filter { !touched.contains($0) },
          "\(seed) \(order)")
      }
    }
  }

  @Test func `the previous page of an empty page has the entity at its place`() throws {
    try withRows(1, hasIndexes: true) { store, _ in
      for order in Self.orders {
        let query = Query(order: order, limit: 59)
        let first = try store.page(of: query)
        let next = try #require(first.next)
        let last = try #require(try store.page(of: query, at: next).entities.first)
        try store.write { try $0.delete("Row:\(last.number)") }
        let empty = try store.page(of: query, at: next)
        #expect(empty.entities.isEmpty && empty.next == nil)
        let back = try store.page(of: query, at: empty.previous)
        #expect(back.entities.map(\.number) == first.entities.map(\.number))
        try store.write { try $0.set(last) }
      }
    }
  }

  @Test func `pages continue within rows of one value`() throws {
    try withRows(2, hasIndexes: true) { store, random in
      // All in one group of equal values.
      let rows = (0..<2000).map { number in
        var row = Row(number, &random)
        (row.group, row.score) = (1, 0)
        return row
      }
      try store.write { transaction in
        for row in rows { try transaction.set(row) }
      }
      for isDescending in [false, true] {
        let order: [QueryOrder<Row>] =
          isDescending
          ? [.descending(\.group), .descending(\.score)]
          : [.ascending(\.group), .ascending(\.score)]
        let query = Query(order: order, limit: 10)
        #expect(
          try store.explain(query).description
            == "Row: index on group, score, in order (2000 in all)")
        var page = try store.page(of: Query(order: order, limit: 1500))
        let next = try #require(page.next)
        page = try store.page(of: query, at: next)
        let whole = try store.find(Query(order: order)).entities.map(\.number)
        #expect(page.entities.map(\.number) == Array(whole[1500..<1510]))
        let back = try store.page(of: query, at: page.previous)
        #expect(back.entities.map(\.number) == Array(whole[1490..<1500]))
      }
    }
  }

  @Test func `a cursor is coded as its text, and has another order refused`() throws {
    try withRows(3, hasIndexes: false) { store, _ in
      for order in Self.orders {
        let query = Query(order: order, limit: 5)
        let next = try #require(try store.page(of: query).next)
        #expect(
          next.text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
        #expect(try QueryCursor<Row>(next.text) == next)
        let json = try JSONEncoder().encode([next])
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(next.text)\"]")
        #expect(try JSONDecoder().decode([QueryCursor<Row>].self, from: json) == [next])
        for other in Self.orders where other != order {
          let error = #expect(throws: QueryError.self) {
            try store.page(of: Query(order: other, limit: 5), at: next)
          }
          #expect(error?.code == .invalidCursor)
        }
      }
    }
  }

  @Test func `a damaged cursor is an error`() throws {
    try withRows(4, hasIndexes: true) { store, random in
      let alphabet = Array("abcXYZ019-_+/= é")
      for order in Self.orders {
        let query = Query(order: order, limit: 5)
        let text = try #require(try store.page(of: query).next).text
        for _ in 0..<100 {
          var damaged = Array(text)
          let place = Int.random(in: 0..<damaged.count, using: &random)
          switch Int.random(in: 0..<3, using: &random) {
          case 0: damaged.remove(at: place)
          case 1: damaged[place] = alphabet.randomElement(using: &random) ?? "a"
          default: damaged.insert(alphabet.randomElement(using: &random) ?? "a", at: place)
          }
          if String(damaged) == text { continue }
          let error = #expect(throws: QueryError.self) {
            try store.page(of: query, at: QueryCursor(String(damaged)))
          }
          #expect(error?.code == .invalidCursor)
        }
        for text in ["", "A", "AQ", "AQAAAAAAAAAAAAAA", String(repeating: "A", count: 100_000)] {
          #expect(throws: QueryError.self) { try QueryCursor<Row>(text) }
        }
      }
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode([QueryCursor<Row>].self, from: Data(#"["AQAA"]"#.utf8))
      }
    }
  }

  @Test(arguments: seeds(2))
  func `a cursor that a client has made is a place in the same result, or an error`(seed: UInt64)
    throws
  {
    try withRows(seed, hasIndexes: seed % 2 == 0) { store, random in
      var placeCount = 0
      for order in Self.orders {
        let query = Query(order: order, limit: 100)
        let whole = try store.find(query).entities.map(\.number)
        let page = try store.page(of: Query(order: order, limit: 20))
        for _ in 0..<40 {
          let text = try #require(page.next).text
          let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
          let standard = text.replacing("-", with: "+").replacing("_", with: "/") + padding
          var bytes = Array(try #require(Data(base64Encoded: standard)).dropLast(4))
          for _ in 0...Int.random(in: 0...2, using: &random) {
            // The version and the fingerprint stay.
            let place = Int.random(in: 6..<bytes.count, using: &random)
            bytes[place] = UInt8.random(in: 0...255, using: &random)
          }
          if Bool.random(using: &random) { bytes[1] = 1 }
          let hash = unsafe bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: 0) }
          for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: hash >> shift)) }
          let made = Data(bytes).base64EncodedString().filter { $0 != "=" }
            .replacing("+", with: "-").replacing("/", with: "_")
          do {
            let numbers = try store.page(of: query, at: QueryCursor(made)).entities.map(\.number)
            let isPart =
              whole.starts(with: numbers) || whole.reversed().starts(with: numbers.reversed())
            #expect(isPart, "\(seed) \(order) \(made)")
            placeCount += 1
          } catch let error as QueryError {
            #expect(error.code == .invalidCursor)
          }
        }
      }
      #expect(placeCount > 100)
    }
  }

  @Test func `a cursor keeps the place of any decimal number`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    var random = SeededGenerator(seed: 0)
    let numbers = [
      Decimal.greatestFiniteMagnitude, Decimal.leastFiniteMagnitude, .leastNonzeroMagnitude, .pi, 0,
      Decimal(sign: .plus, exponent: 127, significand: 1),
      Decimal(sign: .plus, exponent: -128, significand: 1),
      Decimal(sign: .minus, exponent: 127, significand: Decimal(10_000_000_000)), .nan,
    ]
    let rows = numbers.enumerated().map { number, score in
      var row = Row(number, &random)
      row.score = score
      return row
    }
    try store.write { transaction in
      for row in rows { try transaction.set(row) }
    }
    let query = Query(order: [.ascending(\Row.score)], limit: 1)
    var page = try store.page(of: query)
    var met = page.entities.map(\.number)
    while let next = page.next {
      page = try store.page(of: query, at: QueryCursor(next.text))
      met += page.entities.map(\.number)
    }
    #expect(try met == store.find(Query(order: query.order)).entities.map(\.number))
  }

  @Test func `a query that skips entities has no pages`() throws {
    try withRows(5, hasIndexes: false) { store, _ in
      for query in [
        Query<Row>(offset: 1, limit: 5), Query(uniqueBy: [.field(\.group)], limit: 5),
        Query(limit: 0),
      ] {
        let error = #expect(throws: QueryError.self) { try store.page(of: query) }
        #expect(error?.code == .noPages)
      }
      let all = try store.page(of: Query<Row>.all)
      #expect(all.entities.count == 60 && all.next == nil && all.previous == nil)
      let groups = try store.page(of: Query<Row>(groupedBy: .field(\.group), limit: 60)).result
        .groups
      #expect(groups.count == 3)
    }
  }

  @Test func `pages leave out records that can't be decoded`() throws {
    try withRows(6, hasIndexes: false) { store, _ in
      try store.write { transaction in
        try transaction.set(TreeNode("Row:7", type: "Row", fields: ["number": 7, "score": 0]))
      }
      let query = Query<Row>(order: [.ascending(\.score)], limit: 8).skippingUndecodable
      var page = try store.page(of: query)
      var numbers = page.entities.map(\.number)
      while let next = page.next {
        page = try store.page(of: query, at: next)
        numbers += page.entities.map(\.number)
      }
      #expect(page.result.undecodable.map(\.identifier) == ["Row:7"])
      #expect(numbers.count == 59 && Set(numbers).count == 59)
    }
  }
}
