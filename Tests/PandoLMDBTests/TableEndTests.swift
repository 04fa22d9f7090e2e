import PandoFixtures
import PandoLMDB
import Testing

@Suite struct TableEndTests {
  private static func expect(
    _ value: [UInt8], forKey number: Int, in table: RawTable, _ snapshot: Snapshot
  ) throws {
    let key = Self.key(number)
    guard let found = try snapshot.bytes(forKey: key.span, in: table) else {
      Issue.record("row \(number) is missing")
      return
    }
    let bytes = [UInt8](found)
    #expect(bytes == value, "row \(number)")
  }

  @Test func `rows at the end fill pages like rows that are appended`() throws {
    try withEnvironment { environment in
      let (table, other) = (try environment.rawTable("t"), try environment.rawTable("u"))
      let values = (0..<3_000).map { [UInt8](repeating: UInt8($0 % 251), count: 20 + $0 % 300) }
      try environment.write { transaction in
        var end = TableEnd(table)
        for (index, value) in values.enumerated() {
          try Self.reserve(value, forKey: Self.key(index), at: &end, in: &transaction)
          try transaction.append(value.span, forKey: Self.key(index).span, in: other)
        }
      }
      let statistics = try environment.read { try $0.statistics(of: table) }
      let expected = try environment.read { try $0.statistics(of: other) }
      #expect(statistics == expected)
      try environment.read { snapshot in
        for (index, value) in values.enumerated() {
          try Self.expect(value, forKey: index, in: table, snapshot)
        }
      }
    }
  }

  @Test(arguments: 0..<UInt64(8))
  func `rows that come in any order and changes between them match a dictionary`(
    seed: UInt64
  ) throws {
    try withEnvironment { environment in
      let table = try environment.rawTable("t")
      var random = SeededGenerator(seed: seed)
      var expected: [Int: [UInt8]] = [:]
      var next = 1_000
      for _ in 0..<4 {
        try environment.write { transaction in
          var end = TableEnd(table)
          for _ in 0..<1_500 {
            let isOdd = Int.random(in: 0..<40, using: &random)
            let count = isOdd == 1 ? 3_000 : Int.random(in: 0..<200, using: &random)
            let value = [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: count)
            let number = isOdd < 4 ? Int.random(in: 0..<next, using: &random) : next
            next += 1
            let key = Self.key(number)
            if isOdd == 2 {
              transaction.leave(&end)
              try transaction.delete(key: key.span, in: table)
              expected[number] = nil
              continue
            }
            if isOdd == 3 {
              transaction.leave(&end)
              try transaction.put(value.span, forKey: key.span, in: table)
            } else {
              try Self.reserve(value, forKey: key, at: &end, in: &transaction)
            }
            expected[number] = value
          }
        }
      }
      try environment.read { snapshot in
        let count = try snapshot.count(of: table)
        #expect(count == expected.count)
        for (number, value) in expected {
          try Self.expect(value, forKey: number, in: table, snapshot)
        }
      }
    }
  }

  @Test func `an end is left before a nested transaction, which has one of its own`() throws {
    struct Stop: Error {}
    try withEnvironment { environment in
      let table = try environment.rawTable("t")
      try environment.write { transaction in
        var end = TableEnd(table)
        for index in 0..<100 {
          try Self.reserve([1], forKey: Self.key(4 * index), at: &end, in: &transaction)
          transaction.leave(&end)
          for (offset, isKept) in [(1, true), (2, false)] {
            do {
              try transaction.nested { inner in
                var innerEnd = TableEnd(table)
                try Self.reserve(
                  [2], forKey: Self.key(4 * index + offset), at: &innerEnd, in: &inner)
                if !isKept { throw Stop() }
              }
            } catch is Stop {
            }
          }
          try Self.reserve([3], forKey: Self.key(4 * index + 3), at: &end, in: &transaction)
        }
      }
      let count = try environment.read { try $0.count(of: table) }
      #expect(count == 300)
    }
  }

  private static func key(_ number: Int) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private static func reserve(
    _ value: [UInt8], forKey key: [UInt8], at end: inout TableEnd,
    in transaction: inout WriteTransaction
  ) throws {
    let room = try transaction.reserve(value.count, forKey: key.span, at: &end)
    room.copyBytes(from: value)
  }
}
