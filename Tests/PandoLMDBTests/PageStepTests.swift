import PandoFixtures
import PandoLMDB
import Testing

/// Steps of a cursor that are read from the page, beside those that liblmdb makes.
@Suite struct PageStepTests {
  /// What a cursor can be told.
  private enum Move: CaseIterable {
    case first, last, next, previous, notBelow, below
  }

  /// Keys of 1 to 20 bytes with values of up to some pages.
  private static func rows(_ generator: inout SeededGenerator) -> [[UInt8]: [UInt8]] {
    let longest = [10, 300, 2_000, 12_000].randomElement(using: &generator) ?? 10
    let count = Int.random(in: 1...1_500, using: &generator) * 10 / max(10, longest / 20)
    var rows: [[UInt8]: [UInt8]] = [:]
    for _ in 0...count {
      let key = randomBytes(1...20, &generator)
      rows[key] = randomBytes(0...longest, &generator)
    }
    return rows
  }

  private static func randomBytes(
    _ counts: ClosedRange<Int>, _ generator: inout SeededGenerator
  ) -> [UInt8] {
    let count = Int.random(in: counts, using: &generator)
    let start = UInt8.random(in: .min ... .max, using: &generator)
    return (0..<count).map { $0 < 2 ? start &* UInt8(3 + $0) : UInt8(truncatingIfNeeded: $0) }
  }

  /// Moves a cursor at random, and compares it with an array after each move.
  private static func wander(
    _ cursor: inout Cursor, over rows: [(key: [UInt8], value: [UInt8])],
    _ generator: inout SeededGenerator
  ) throws {
    var place: Int?
    for _ in 0..<2_000 {
      let move = Move.allCases.randomElement(using: &generator) ?? .next
      let target = randomBytes(1...20, &generator)
      for _ in 0..<Int.random(in: 1...60, using: &generator) {
        let isFound: Bool
        switch move {
        case .first: (isFound, place) = (try cursor.moveToFirst(), 0)
        case .last: (isFound, place) = (try cursor.moveToLast(), rows.count - 1)
        case .next: (isFound, place) = (try cursor.moveToNext(), place.map { $0 + 1 } ?? 0)
        case .previous:
          (isFound, place) = (try cursor.moveToPrevious(), (place ?? rows.count) - 1)
        case .notBelow:
          isFound = try cursor.move(toFirstNotBelow: target.span)
          place = rows.firstIndex { !$0.key.lexicographicallyPrecedes(target) }
        case .below:
          isFound = try cursor.move(toLastBelow: target.span)
          place = rows.lastIndex { $0.key.lexicographicallyPrecedes(target) }
        }
        if let index = place, !rows.indices.contains(index) { place = nil }
        let (key, value) = (bytes(cursor.key), bytes(cursor.value))
        try #require(isFound == (place != nil))
        try #require(key == place.map { rows[$0].key })
        try #require(value == place.map { rows[$0].value })
        if move == .first || move == .last || move == .notBelow || move == .below { break }
      }
    }
  }

  private static func bytes(_ span: Span<UInt8>?) -> [UInt8]? {
    guard let span else { return nil }
    return span.withUnsafeBufferPointer { [UInt8]($0) }
  }

  @Test(arguments: seeds(4))
  func `a cursor that is moved at random is where an array says`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let rows = Self.rows(&generator)
    let sorted = rows.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { (key: $0.key, value: $0.value) }
    try withEnvironment { environment in
      let table = try environment.rawTable("t")
      try environment.write { transaction in
        for (key, value) in rows {
          try transaction.put(value.span, forKey: key.span, in: table)
        }
      }
      try environment.read { snapshot in
        var cursor = try snapshot.cursor(in: table)
        try Self.wander(&cursor, over: sorted, &generator)
      }
      // Pages that have been changed lie elsewhere: the same in a write that has changed all.
      try environment.write { transaction in
        for (key, value) in rows {
          try transaction.put(value.span, forKey: key.span, in: table)
        }
        let snapshot = transaction.snapshot
        var cursor = try snapshot.cursor(in: table)
        try Self.wander(&cursor, over: sorted, &generator)
      }
    }
  }

  @Test func `a scan visits a range of many pages in both directions`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      try environment.write { transaction in
        for key in UInt32(0)..<5_000 {
          try transaction.put([UInt8](repeating: 1, count: Int(key % 97)), forKey: key, in: table)
        }
      }
      for isReversed in [false, true] {
        var keys: [UInt32] = []
        try environment.read { snapshot in
          try snapshot.scan(table, in: .from(117, upTo: 4_321), reversed: isReversed) { entry in
            keys.append(try entry.key)
            return try entry.value.count == Int(entry.key % 97)
          }
        }
        let expected = Array(UInt32(117)..<4_321)
        #expect(keys == (isReversed ? expected.reversed() : expected))
      }
    }
  }

  @Test func `a walk over pages whose keys have lost their order ends as liblmdb's does`() throws {
    try withTemporaryDirectory { path in
      let file = try DamagedFileTests.makeFile(path)
      var bytes = try DamagedFileTests.read(file)
      for page in stride(from: 2 * 4_096, to: bytes.count, by: 4_096)
      where bytes[page + 10] == 2 && bytes[page + 11] == 0 && bytes[page + 12] >= 16 + 2 * 4 {
        let last = page + Int(bytes[page + 12]) - 2
        for byte in 0..<2 { bytes.swapAt(page + 16 + byte, last + byte) }
      }
      try DamagedFileTests.write(bytes, to: file)
      let environment = try Environment(path: path, configuration: .forTests)
      defer { environment.close() }
      let table = try environment.rawTable("t")
      func walk(_ snapshot: Snapshot, isReversed: Bool) throws -> [[UInt8]?] {
        var keys: [[UInt8]?] = []
        try snapshot.scan(table, reversed: isReversed) { key, _ in
          keys.append(Self.bytes(key))
          return true
        }
        return keys
      }
      for isReversed in [false, true] {
        let keys = try environment.read { try walk($0, isReversed: isReversed) }
        let plain = try environment.write { try walk($0.snapshot, isReversed: isReversed) }
        #expect(keys.count == 200)
        #expect(keys == plain)
      }
    }
  }
}
