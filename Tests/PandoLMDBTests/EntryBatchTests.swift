import PandoFixtures
import PandoLMDB
import Testing

@Suite struct EntryBatchTests {
  @Test(arguments: seeds(8))
  func `a batch in any order has the effect of its entries one by one`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    try withEnvironment { environment in
      let table = try environment.rawTable("t")
      var expected: [[UInt8]: [UInt8]] = [:]
      for _ in 0..<6 {
        var (put, delete) = (EntryBatch(), EntryBatch())
        // A run of neighbours, and some anywhere.
        let start = Int.random(in: 0..<3_000, using: &generator)
        let run = start..<(start + Int.random(in: 0..<1_500, using: &generator))
        let others = (0..<50).map { _ in Int.random(in: 0..<4_500, using: &generator) }
        let numbers = Set(run).union(others)
        let isInOrder = Bool.random(using: &generator)
        for number in isInOrder ? numbers.sorted() : Array(numbers) {
          let key = Self.key(number)
          let (head, rest, none) = (Array(key[..<1]), Array(key[1...]), [UInt8]())
          if Int.random(in: 0..<3, using: &generator) == 0 {
            delete.append(head.span, none.span, rest.span, value: none.span)
            expected[key] = nil
          } else {
            let count = Int.random(in: 0..<200, using: &generator)
            let value = [UInt8](repeating: UInt8(number % 251), count: count)
            put.append(head.span, none.span, rest.span, value: value.span)
            expected[key] = value
          }
        }
        try environment.write { transaction in
          try transaction.delete(delete, in: table)
          try transaction.put(put, in: table)
        }
        var found: [[UInt8]: [UInt8]] = [:]
        try environment.read { snapshot in
          try snapshot.scan(table) { key, value in
            found[[UInt8](key)] = [UInt8](value)
            return true
          }
        }
        #expect(found == expected)
      }
    }
  }

  @Test func `a key that is too long is refused and the transaction goes on`() throws {
    try withEnvironment { environment in
      let table = try environment.rawTable("t")
      let (long, none) = ([UInt8](repeating: 1, count: 512), [UInt8]())
      var batch = EntryBatch()
      batch.append(long.span, none.span, none.span, value: none.span)
      try environment.write { transaction in
        let error = #expect(throws: LMDBError.self) { try transaction.put(batch, in: table) }
        #expect(error?.code == .badKeySize)
        #expect(throws: LMDBError.self) { try transaction.delete(batch, in: table) }
        let key = Self.key(1)
        try transaction.put(key.span, forKey: key.span, in: table)
      }
      let count = try environment.read { try $0.count(of: table) }
      #expect(count == 1)
    }
  }

  private static func key(_ number: Int) -> [UInt8] {
    [7, UInt8(number >> 8), UInt8(number & 0xFF)]
  }
}
