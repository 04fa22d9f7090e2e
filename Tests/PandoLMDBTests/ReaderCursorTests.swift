import PandoFixtures
import PandoLMDB
import Testing

@Suite struct ReaderCursorTests {
  /// Looks keys up both ways, in one version.
  private static func expectSame(
    _ keys: [[UInt8]], _ cursor: ReaderCursor, _ environment: Environment, _ table: RawTable
  ) throws {
    try environment.read { snapshot in
      cursor.begin(snapshot.unsafeHandle)
      defer { cursor.end() }
      for key in keys {
        var expected: [UInt8]?
        if let bytes = try snapshot.bytes(forKey: key.span, in: table) { expected = [UInt8](bytes) }
        let found = try cursor.bytes(forKey: key.span).map { [UInt8]($0) }
        try #require(found == expected, "key \(key)")
      }
      if !keys.isEmpty { #expect(cursor.readsPages) }
    }
  }

  private static func number(_ value: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) }
  }

  @Test(arguments: seeds(4))
  func `numbers are found as liblmdb finds them, version after version`(seed: UInt64) throws {
    try withEnvironment { environment in
      let table = try environment.rawTable("numbers")
      let cursor = ReaderCursor(table, named: "numbers", hasNumberKeys: true)
      var random = SeededGenerator(seed: seed)
      for bound: UInt64 in [3, 40, 3_000, 1 << 40] {
        try Self.expectSame((0..<50).map { Self.number($0) }, cursor, environment, table)
        try environment.write { transaction in
          for _ in 0..<1_500 {
            let key = Self.number(UInt64.random(in: 0..<bound, using: &random))
            if Int.random(in: 0..<4, using: &random) == 0 {
              try transaction.delete(key: key.span, in: table)
            } else {
              // Some do not fit their page.
              let longest = Int.random(in: 0..<50, using: &random) == 0 ? 10_000 : 60
              let value = [UInt8](randomCount: 0...longest, below: 255, using: &random)
              try transaction.put(value.span, forKey: key.span, in: table)
            }
          }
        }
        var keys = (0..<300).map { _ in
          Self.number(UInt64.random(in: 0..<bound, using: &random))
        }
        try environment.read { snapshot in
          try snapshot.scan(table) { key, _ in
            keys.append([UInt8](key))
            return true
          }
        }
        try Self.expectSame(keys.shuffled(using: &random), cursor, environment, table)
        // In order, where the page of the key before serves again.
        keys.sort { $0.lexicographicallyPrecedes($1) }
        try Self.expectSame(keys, cursor, environment, table)
      }
    }
  }

  @Test(arguments: seeds(4))
  func `keys of any length are found as liblmdb finds them`(seed: UInt64) throws {
    try withEnvironment { environment in
      let table = try environment.rawTable("texts")
      let cursor = ReaderCursor(table, named: "texts", hasNumberKeys: false)
      var random = SeededGenerator(seed: seed)
      var keys = (0..<2_000).map { _ in
        let longest = Int.random(in: 0..<10, using: &random) == 0 ? 511 : 24
        return [UInt8](randomCount: 1...longest, below: 3, using: &random)
      }
      try environment.write { transaction in
        for key in keys.prefix(1_000) {
          try transaction.put(Array(key.prefix(9)).span, forKey: key.span, in: table)
        }
      }
      try Self.expectSame(keys, cursor, environment, table)
      keys.sort { $0.lexicographicallyPrecedes($1) }
      try Self.expectSame(keys, cursor, environment, table)
    }
  }

  @Test func `pages are found again where the map has moved to`() throws {
    var configuration = Environment.Configuration.forTests
    configuration.mapSizeInBytes = 1 << 20
    try withEnvironment(configuration) { environment in
      let table = try environment.rawTable("numbers")
      let cursor = ReaderCursor(table, named: "numbers", hasNumberKeys: true)
      let value = [UInt8](repeating: 7, count: 1_000)
      var keys: [[UInt8]] = []
      for round in 0..<6 {
        try environment.write { transaction in
          for index in 0..<1_000 {
            let key = Self.number(UInt64(round * 1_000 + index))
            keys.append(key)
            try transaction.put(value.span, forKey: key.span, in: table)
          }
        }
        try Self.expectSame(keys, cursor, environment, table)
      }
    }
  }

  @Test func `a version is the same where the map has moved to without a commit`() throws {
    struct Refusal: Error {}
    var configuration = Environment.Configuration.forTests
    configuration.mapSizeInBytes = 1 << 20
    try withEnvironment(configuration) { environment in
      let table = try environment.rawTable("numbers")
      let cursor = ReaderCursor(table, named: "numbers", hasNumberKeys: true)
      let keys = (0..<500).map { Self.number($0) }
      try environment.write { transaction in
        for key in keys { try transaction.put(key.span, forKey: key.span, in: table) }
      }
      try Self.expectSame(keys, cursor, environment, table)
      let before = try environment.statistics()
      #expect(throws: Refusal.self) {
        try environment.write { transaction in
          let value = [UInt8](repeating: 7, count: 3 << 20)
          try transaction.put(value.span, forKey: Self.number(1_000).span, in: table)
          throw Refusal()
        }
      }
      let after = try environment.statistics()
      #expect(after.mapSizeInBytes > before.mapSizeInBytes)
      #expect(after.lastTransactionID == before.lastTransactionID)
      try Self.expectSame(keys, cursor, environment, table)
    }
  }

  @Test func `a cursor goes from an older version to a newer one and back`() throws {
    try withEnvironment { environment in
      let table = try environment.rawTable("numbers")
      let cursor = ReaderCursor(table, named: "numbers", hasNumberKeys: true)
      func fill(_ value: UInt8) throws {
        try environment.write { transaction in
          for key in UInt64(0)..<300 {
            try transaction.put([value].span, forKey: Self.number(key).span, in: table)
          }
        }
      }
      func expect(_ value: UInt8, _ snapshot: Snapshot) throws {
        cursor.begin(snapshot.unsafeHandle)
        defer { cursor.end() }
        for key: UInt64 in [0, 150, 299] {
          let bytes = try cursor.bytes(forKey: Self.number(key).span).map { [UInt8]($0) }
          #expect(bytes == [value])
        }
      }
      try fill(1)
      try environment.read { older in
        try expect(1, older)
        for value: UInt8 in 2...4 {
          try fill(value)
          try environment.read { try expect(value, $0) }
          try expect(1, older)
        }
      }
      try environment.read { try expect(4, $0) }
    }
  }

  @Test func `a key that no number key can be is looked up all the same`() throws {
    try withEnvironment { environment in
      let table = try environment.rawTable("mixed")
      let cursor = ReaderCursor(table, named: "mixed", hasNumberKeys: true)
      let keys: [[UInt8]] = [[1], Self.number(2), [3, 4, 5]]
      try environment.write { transaction in
        for key in keys { try transaction.put(key.span, forKey: key.span, in: table) }
      }
      try Self.expectSame(keys + [[2], Self.number(1)], cursor, environment, table)
    }
  }
}
