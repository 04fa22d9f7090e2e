import PandoFixtures
import PandoLMDB
import Testing

@Suite struct KeyRangeTests {
  static func keys<Key, Value>(
    _ environment: Environment, _ table: Table<Key, Value>, _ range: KeyRange<Key>,
    reversed: Bool = false
  ) throws -> [Key] {
    var keys: [Key] = []
    try environment.read { snapshot in
      try snapshot.scan(table, in: range, reversed: reversed) { entry in
        keys.append(try entry.key)
        return true
      }
    }
    return keys
  }

  @Test(arguments: seeds(4))
  func `every kind of range holds the keys it says in both directions`(seed: UInt64) throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .int32, values: .uint8)
      var random = SeededGenerator(seed: seed)
      let all = Set((0..<40).map { _ in Int32.random(in: -30...30, using: &random) }).sorted()
      try environment.write { transaction in
        for key in all { try transaction.put(0, forKey: key, in: table) }
      }
      for _ in 0..<50 {
        let low = Int32.random(in: -35...35, using: &random)
        let high = Int32.random(in: -35...35, using: &random)
        let cases: [(KeyRange<Int32>, (Int32) -> Bool)] = [
          (.all, { _ in true }),
          (.from(low), { $0 >= low }),
          (.after(low), { $0 > low }),
          (.upTo(high), { $0 < high }),
          (.through(high), { $0 <= high }),
          (.from(low, upTo: high), { $0 >= low && $0 < high }),
          (.from(low, through: high), { $0 >= low && $0 <= high }),
        ]
        for (range, isInside) in cases {
          let expected = all.filter(isInside)
          #expect(try Self.keys(environment, table, range) == expected)
          #expect(try Self.keys(environment, table, range, reversed: true) == expected.reversed())
        }
      }
      #expect(try Self.keys(environment, table, KeyRange(-3...3)) == all.filter { abs($0) <= 3 })
      #expect(try Self.keys(environment, table, KeyRange(0..<9)) == all.filter { (0..<9) ~= $0 })
    }
  }

  @Test func `prefixes of text contain the keys that begin with them`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .string, values: .uint8)
      let all = ["a", "ab", "abc", "ac", "b", "é", "\u{10FFFF}", "\u{10FFFF}a"]
      try environment.write { transaction in
        for key in all { try transaction.put(0, forKey: key, in: table) }
      }
      for prefix in ["", "a", "ab", "x", "\u{10FFFF}"] {
        let expected = all.filter { $0.hasPrefix(prefix) }.sorted()
        #expect(try Self.keys(environment, table, .prefix(prefix)) == expected)
        let downwards = try Self.keys(environment, table, .prefix(prefix), reversed: true)
        #expect(downwards == expected.reversed())
      }
    }
  }

  @Test func `a prefix of 255 reaches the end of the table`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .bytes, values: .uint8)
      let all: [[UInt8]] = [[254], [255], [255, 1], [255, 255], [255, 255, 9]]
      try environment.write { transaction in
        for key in all { try transaction.put(0, forKey: key, in: table) }
      }
      #expect(try Self.keys(environment, table, .prefix([255])) == Array(all[1...]))
      let downwards = try Self.keys(environment, table, .prefix([255, 255]), reversed: true)
      #expect(downwards == [[255, 255, 9], [255, 255]])
    }
  }

  @Test func `the first elements of tuples make a range`() throws {
    try withEnvironment { environment in
      let visits = try environment.table(
        "visits", keys: .tuple(.string, .uint16, .int8), values: .bytes)
      try environment.write { transaction in
        for name in ["A", "Ada", "Ada\u{0}", "B"] {
          for year in [UInt16(1), 2] {
            for day in [Int8(-1), 1] {
              try transaction.put([], forKey: (name, year, day), in: visits)
            }
          }
        }
      }
      let ofAda = try Self.keys(environment, visits, .prefix("Ada"))
      #expect(ofAda.map(\.0) == ["Ada", "Ada", "Ada", "Ada"])
      #expect(ofAda.map(\.1) == [1, 1, 2, 2])
      #expect(ofAda.map(\.2) == [-1, 1, -1, 1])
      let second = try Self.keys(environment, visits, .prefix("Ada", 2), reversed: true)
      #expect(second.map(\.2) == [1, -1])
      let removed = try environment.write { try $0.delete(in: .prefix("Ada"), of: visits) }
      #expect(removed == 4)
      #expect(try environment.read { try $0.count(of: visits) } == 12)
    }
  }

  @Test(arguments: seeds(4))
  func `deleting a range leaves the others`(seed: UInt64) throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      var random = SeededGenerator(seed: seed)
      let value = [UInt8](repeating: 1, count: 300)
      try environment.write { transaction in
        for key in UInt32(0)..<2000 { try transaction.append(value, forKey: key, in: table) }
      }
      var expected = Set(UInt32(0)..<2000)
      for _ in 0..<12 {
        let low = UInt32.random(in: 0..<2000, using: &random)
        let high = low + UInt32.random(in: 0..<400, using: &random)
        let gone = expected.filter { $0 >= low && $0 < high }
        let count = try environment.write { try $0.delete(in: .from(low, upTo: high), of: table) }
        #expect(count == gone.count)
        expected.subtract(gone)
        #expect(try Self.keys(environment, table, .all) == expected.sorted(), "seed \(seed)")
      }
    }
  }
}
