import PandoFixtures
import PandoLMDB
import Testing

@Suite struct SnapshotTests {
  @Test func `an absent key has no bytes`() throws {
    try withEnvironment { environment in
      let table = try environment.rawTable(nil)
      let found = try environment.read { try $0.contains(key: [1].span, in: table) }
      #expect(!found)
    }
  }

  @Test(arguments: seeds(8))
  func `random changes match a dictionary`(seed: UInt64) throws {
    try withEnvironment { environment in
      let table = try environment.rawTable("t")
      var random = SeededGenerator(seed: seed)
      var expected: [[UInt8]: [UInt8]] = [:]
      for step in 0..<300 {
        try Self.change(&expected, environment, table, &random)
        guard step % 10 == 0 else { continue }
        var actual: [[UInt8]: [UInt8]] = [:]
        var keys: [[UInt8]] = []
        try environment.read { snapshot in
          #expect(try snapshot.count(of: table) == expected.count)
          try snapshot.scan(table) { key, value in
            keys.append([UInt8](key))
            actual[[UInt8](key)] = [UInt8](value)
            return true
          }
        }
        try #require(actual == expected, "seed \(seed), step \(step)")
        try #require(keys == expected.keys.sorted { $0.lexicographicallyPrecedes($1) })
      }
    }
  }

  private static func change(
    _ expected: inout [[UInt8]: [UInt8]], _ environment: Environment, _ table: RawTable,
    _ random: inout SeededGenerator
  ) throws {
    let key = [UInt8](randomCount: 1...3, below: 6, using: &random)
    let value = [UInt8](randomCount: 0...20, below: 255, using: &random)
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<10:
      try environment.write { try $0.put(value.span, forKey: key.span, in: table) }
      expected[key] = value
    case 10..<14:
      let isNew = try environment.write {
        try $0.insert(value.span, forKey: key.span, in: table)
      }
      #expect(isNew == (expected[key] == nil))
      if isNew { expected[key] = value }
    case 14..<19:
      let wasThere = try environment.write { try $0.delete(key: key.span, in: table) }
      #expect(wasThere == (expected.removeValue(forKey: key) != nil))
    default:
      try environment.write { try $0.removeAll(in: table) }
      expected = [:]
    }
  }
}
