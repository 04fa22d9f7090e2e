import CPandoAllocations
import PandoFixtures
import PandoLMDB
import Testing

/// What a doc comment says of allocations.
@Suite struct AllocationTests {
  /// How many allocations `body` makes on this thread.
  static func count(_ body: () throws -> Void) rethrows -> Int {
    let before = allocations_on_this_thread()
    try body()
    return Int(allocations_on_this_thread() - before)
  }

  static func withNumbers(
    _ body: (Environment, Table<UInt64, UInt64>) throws -> Void
  ) throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint64, values: .uint64)
      try environment.write { transaction in
        for key in UInt64(0)..<1000 { try transaction.append(key * 3, forKey: key, in: table) }
      }
      // The first read begins the transaction that the others renew.
      try environment.read { _ in }
      try body(environment, table)
    }
  }

  @Test(.enabled(if: allocations_are_counted() == 1, "a sanitizer has an allocator of its own"))
  func `the counter counts the allocation of an array`() {
    var array: [Int] = []
    let count = Self.count { array = [Int](repeating: 1, count: 1000) }
    #expect(count == 1)
    #expect(array.count == 1000)
  }

  @Test func `1000 gets of bytes in one snapshot allocate nothing`() throws {
    try Self.withNumbers { environment, table in
      var sum = 0
      let raw = table.raw
      let count = try environment.read { snapshot in
        try Self.count {
          for number in 0..<1000 {
            let key: InlineArray<8, UInt8> = [
              0, 0, 0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 0xFF),
            ]
            if let bytes = try snapshot.bytes(forKey: key.span, in: raw) { sum += bytes.count }
          }
        }
      }
      #expect(sum == 8000)
      #expect(count == 0)
    }
  }

  @Test func `1000 gets in a snapshot each allocate nothing`() throws {
    try Self.withNumbers { environment, table in
      var sum = 0
      let raw = table.raw
      let count = try Self.count {
        for number in 0..<1000 {
          let key: InlineArray<8, UInt8> = [
            0, 0, 0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 0xFF),
          ]
          sum += try environment.read { try $0.bytes(forKey: key.span, in: raw)?.count ?? 0 }
        }
      }
      #expect(sum == 8000)
      #expect(count == 0)
    }
  }

  @Test func `a scan allocates for its beginning and not for its keys`() throws {
    try Self.withNumbers { environment, table in
      var sum = 0
      let raw = table.raw
      let upTo: [UInt8] = [0]
      let (few, many) = try environment.read { snapshot in
        let few = try Self.count { try snapshot.scan(raw, upTo: upTo) { _, _ in true } }
        let many = try Self.count {
          try snapshot.scan(raw) { key, value in
            sum += key.count + value.count
            return true
          }
        }
        return (few, many)
      }
      #expect(sum == 16_000)
      #expect(many <= few)
    }
  }
}
