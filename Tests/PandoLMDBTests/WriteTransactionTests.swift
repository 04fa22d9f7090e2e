import PandoFixtures
import PandoLMDB
import Testing

@Suite struct WriteTransactionTests {
  struct Stop: Error {}

  @Test func `keys of 1 and 511 bytes are kept`() throws {
    try withEnvironment { environment in
      let table = try environment.rawTable("t")
      for count in [1, 511] {
        let key = [UInt8](repeating: 7, count: count)
        try environment.write { try $0.put([1].span, forKey: key.span, in: table) }
        let found = try environment.read { try $0.contains(key: key.span, in: table) }
        #expect(found)
      }
    }
  }

  @Test(arguments: [0, 512])
  func `keys of other sizes are refused and the transaction goes on`(byteCount: Int) throws {
    try withEnvironment { environment in
      let table = try environment.rawTable("t")
      let key = [UInt8](repeating: 7, count: byteCount)
      try environment.write { transaction in
        expectError(.badKeySize) {
          try transaction.put([1].span, forKey: key.span, in: table)
        }
        expectError(.badKeySize) {
          _ = try transaction.insert([1].span, forKey: key.span, in: table)
        }
        expectError(.badKeySize) {
          try transaction.append([1].span, forKey: key.span, in: table)
        }
        expectError(.badKeySize) { try transaction.delete(key: key.span, in: table) }
        expectError(.badKeySize) { _ = try transaction.bytes(forKey: key.span, in: table) }
        try transaction.put([2].span, forKey: [2].span, in: table)
      }
      try environment.read { snapshot in
        expectError(.badKeySize) { _ = try snapshot.bytes(forKey: key.span, in: table) }
        let count = try snapshot.count(of: table)
        #expect(count == 1)
      }
    }
  }

  @Test func `values of any length come back`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      for count in [0, 1, 2000, 5000, 100_000, 3_000_000] {
        let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try environment.write { try $0.put(value, forKey: UInt32(count), in: table) }
        let back = try environment.read { try $0.value(forKey: UInt32(count), in: table) }
        #expect(back == value)
      }
    }
  }

  @Test func `a closure that throws leaves nothing`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint8, values: .uint8)
      let before = try environment.statistics().lastTransactionID
      #expect(throws: Stop.self) {
        try environment.write { transaction in
          try transaction.put(1, forKey: 1, in: table)
          throw Stop()
        }
      }
      #expect(try environment.read { try $0.count(of: table) } == 0)
      #expect(try environment.statistics().lastTransactionID == before)
    }
  }

  @Test func `a transaction reads its own writes and others do not`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint8, values: .uint8)
      try environment.write { transaction in
        try transaction.put(1, forKey: 1, in: table)
        let own = try transaction.value(forKey: 1, in: table)
        #expect(own == 1)
        #expect(try environment.read { try $0.value(forKey: 1, in: table) } == nil)
      }
      #expect(try environment.read { try $0.value(forKey: 1, in: table) } == 1)
    }
  }

  @Test func `a nested transaction is kept when it returns and taken back when it throws`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint8, values: .uint8)
      try environment.write { transaction in
        try transaction.put(1, forKey: 1, in: table)
        let result = try transaction.nested { inner in
          try inner.put(2, forKey: 2, in: table)
          return try inner.count(of: table)
        }
        #expect(result == 2)
        do {
          try transaction.nested { inner in
            try inner.removeAll(in: table)
            try inner.nested { try $0.put(9, forKey: 9, in: table) }
            throw Stop()
          }
        } catch is Stop {}
        try transaction.put(3, forKey: 3, in: table)
      }
      let keys = try KeyRangeTests.keys(environment, table, .all)
      #expect(keys == [1, 2, 3])
    }
  }

  @Test(arguments: seeds(6))
  func `random nesting matches dictionaries`(seed: UInt64) throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint8, values: .uint32)
      var random = SeededGenerator(seed: seed)
      var expected: [UInt8: UInt32] = [:]
      for _ in 0..<40 {
        try environment.write { transaction in
          var mine = expected
          try Self.change(&transaction, &mine, table, depth: 0, &random)
          expected = mine
        }
        var actual: [UInt8: UInt32] = [:]
        try environment.read { snapshot in
          try snapshot.scan(table) { entry in
            actual[try entry.key] = try entry.value
            return true
          }
        }
        try #require(actual == expected, "seed \(seed)")
      }
    }
  }

  private static func change(
    _ transaction: inout WriteTransaction, _ expected: inout [UInt8: UInt32],
    _ table: Table<UInt8, UInt32>, depth: Int, _ random: inout SeededGenerator
  ) throws {
    for _ in 0..<Int.random(in: 1...8, using: &random) {
      let key = UInt8.random(in: 0..<20, using: &random)
      let value = UInt32.random(in: 0...9, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<6:
        try transaction.put(value, forKey: key, in: table)
        expected[key] = value
      case 6..<8:
        let wasThere = try transaction.delete(key: key, in: table)
        #expect(wasThere == (expected.removeValue(forKey: key) != nil))
      default:
        guard depth < 3 else { continue }
        let isKept = Bool.random(using: &random)
        var inside = expected
        do {
          try transaction.nested { inner in
            try change(&inner, &inside, table, depth: depth + 1, &random)
            if !isKept { throw Stop() }
          }
          expected = inside
        } catch is Stop {}
      }
    }
  }
}
