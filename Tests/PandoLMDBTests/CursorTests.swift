import PandoFixtures
import PandoLMDB
import Testing

@Suite struct CursorTests {
  static func withKeys(
    _ keys: [UInt8], _ body: (Environment, RawTable) throws -> Void
  ) throws {
    try withEnvironment { environment in
      let table = try environment.rawTable("t")
      try environment.write { transaction in
        for key in keys { try transaction.put([key, 9].span, forKey: [key].span, in: table) }
      }
      try body(environment, table)
    }
  }

  @Test func `a cursor walks both ways`() throws {
    try Self.withKeys([1, 3, 5]) { environment, table in
      let (upwards, downwards) = try environment.read { snapshot in
        var cursor = try snapshot.cursor(in: table)
        var upwards: [UInt8] = []
        while try cursor.moveToNext() { upwards.append(cursor.key?[0] ?? 0) }
        var downwards: [UInt8] = []
        while try cursor.moveToPrevious() { downwards.append(cursor.value?[0] ?? 0) }
        return (upwards, downwards)
      }
      #expect(upwards == [1, 3, 5])
      #expect(downwards == [5, 3, 1])
    }
  }

  @Test func `a count is that of the keys in the range, whatever its ends have of a page`() throws {
    func key(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }
    try withEnvironment { environment in
      let table = try environment.rawTable("t")
      let numbers = 0..<2_000
      try environment.write { transaction in
        for number in numbers {
          let value = [UInt8](repeating: 1, count: 40)
          try transaction.put(value.span, forKey: key(number).span, in: table)
        }
      }
      try environment.read { snapshot in
        for lower in stride(from: 0, to: 2_000, by: 97) {
          for length in [0, 1, 2, 3, 20, 60, 61, 300, 1_999] {
            let count = try snapshot.count(in: table, from: key(lower), upTo: key(lower + length))
            #expect(count == numbers.clamped(to: lower..<lower + length).count)
            let few = try snapshot.count(
              in: table, from: key(lower), upTo: key(lower + length), atMost: 10)
            #expect(few == min(10, count))
          }
          #expect(try snapshot.count(in: table, from: key(lower), upTo: nil) == 2_000 - lower)
        }
      }
    }
  }

  @Test func `a cursor finds the neighbours of a key that is not there`() throws {
    try Self.withKeys([1, 3, 5]) { environment, table in
      let found = try environment.read { snapshot in
        var cursor = try snapshot.cursor(in: table)
        var found: [UInt8?] = []
        for target in UInt8(0)...6 {
          found.append(try cursor.move(toFirstNotBelow: [target].span) ? cursor.key?[0] : nil)
          found.append(try cursor.move(toLastBelow: [target].span) ? cursor.key?[0] : nil)
        }
        return found
      }
      #expect(found == [1, nil, 1, nil, 3, 1, 3, 1, 5, 3, 5, 3, nil, 5])
    }
  }

  @Test func `a cursor of an empty table points nowhere`() throws {
    try Self.withKeys([]) { environment, table in
      try environment.read { snapshot in
        var cursor = try snapshot.cursor(in: table)
        let moves = [
          try cursor.moveToFirst(), try cursor.moveToLast(), try cursor.moveToNext(),
          try cursor.moveToPrevious(), try cursor.move(toFirstNotBelow: [1].span),
        ]
        #expect(moves == [false, false, false, false, false])
        let isNowhere = cursor.key == nil && cursor.value == nil
        #expect(isNowhere)
      }
    }
  }

  @Test func `the bytes at a cursor stay valid when the cursor moves`() throws {
    try Self.withKeys([1, 3]) { environment, table in
      let values = try environment.read { snapshot -> [UInt8] in
        var cursor = try snapshot.cursor(in: table)
        _ = try cursor.moveToFirst()
        let first = cursor.value
        _ = try cursor.moveToNext()
        return [first?[0] ?? 0, cursor.value?[0] ?? 0]
      }
      #expect(values == [1, 3])
    }
  }

  @Test func `a cursor in a write sees its changes`() throws {
    try Self.withKeys([1]) { environment, table in
      let last = try environment.write { transaction -> UInt8? in
        try transaction.put([8].span, forKey: [8].span, in: table)
        let snapshot = transaction.snapshot
        var cursor = try snapshot.cursor(in: table)
        return try cursor.moveToLast() ? cursor.key?[0] : nil
      }
      #expect(last == 8)
    }
  }
}
