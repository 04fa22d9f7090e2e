import PandoFixtures
import PandoLMDB
import Testing

@testable import PandoStore

@Suite struct CountedListTests {
  @Test func `a list without a write is empty`() throws {
    try withList { list, transaction in
      #expect(try list.count(in: transaction.snapshot) == 0)
      #expect(try list.elements(in: transaction.snapshot).isEmpty)
      try list.removeAll(in: &transaction)
      try list.remove(in: 0..<0, in: &transaction)
      try list.insert(contentsOf: [], at: 0, in: &transaction)
      try list.replace(in: 0..<0, with: [], in: &transaction)
      try list.replaceAll(with: [], in: &transaction)
      #expect(try list.edit(in: &transaction) { _, _ in .remove }.isEmpty)
      #expect(try list.checkInvariants(in: transaction.snapshot) == CountedList.Shape())
      #expect(try transaction.count(of: list.table) == 0)
    }
  }

  @Test func `a committed list is read from a snapshot`() throws {
    try withEnvironment { environment in
      let list = CountedList(table: try environment.rawTable("elements"), number: 1)
      let elements = smallElements(0..<5_000)
      try environment.write { try list.append(contentsOf: elements, in: &$0) }
      try environment.read { snapshot in
        #expect(try list.elements(in: snapshot) == elements)
        let element = try list.element(at: 4_321, in: snapshot)
        #expect([UInt8](element) == elements[4_321])
      }
    }
  }

  @Test func `a million elements keep their order under inserts everywhere`() throws {
    try withList { list, transaction in
      let element: [UInt8] = [9, 9, 9, 9]
      let run = repeatElement(element, count: 1_000_000)
      try list.replaceAll(with: run, in: &transaction)
      for (number, index) in [0, 500_000, 999_999, 1_000_003, 1, 250_000].enumerated() {
        try list.insert([UInt8(number)].span, at: index, in: &transaction)
      }
      var found: [Int: UInt8] = [:]
      try list.forEach(of: transaction.snapshot) { index, bytes in
        if bytes.count == 1 { found[index] = bytes[0] }
        return true
      }
      // Each later insert before or at a position moved it up by one.
      #expect(found == [0: 0, 1: 4, 250_000: 5, 500_002: 1, 1_000_001: 2, 1_000_005: 3])
      #expect(try list.count(in: transaction.snapshot) == 1_000_006)
    }
  }

  @Test func `reading stops when the body says so`() throws {
    try withList { list, transaction in
      try list.append(contentsOf: smallElements(0..<5_000), in: &transaction)
      var visited: [Int] = []
      try list.forEach(in: 10..<4_000, of: transaction.snapshot) { index, _ in
        visited.append(index)
        return index < 12
      }
      #expect(visited == [10, 11, 12])
    }
  }

  @Test func `an error of the body ends the reading`() throws {
    struct Enough: Error {}
    try withList { list, transaction in
      try list.append(contentsOf: smallElements(0..<5_000), in: &transaction)
      var count = 0
      #expect(throws: Enough.self) {
        try list.forEach(of: transaction.snapshot) { _, _ in
          count += 1
          if count == 3_000 { throw Enough() }
          return true
        }
      }
      #expect(count == 3_000)
    }
  }

  @Test func `an error of the body of an edit changes nothing`() throws {
    struct Enough: Error {}
    try withList { list, transaction in
      try list.append(contentsOf: smallElements(0..<3_000), in: &transaction)
      let rows = try list.rows(in: transaction.snapshot)
      #expect(throws: Enough.self) {
        try list.edit(in: &transaction) { index, _ in
          if index == 2_000 { throw Enough() }
          return .remove
        }
      }
      #expect(try list.rows(in: transaction.snapshot) == rows)
    }
  }

  @Test func `an edit may remove all elements`() throws {
    try withList { list, transaction in
      try list.append(contentsOf: smallElements(0..<30_000), in: &transaction)
      let result = try list.edit(in: &transaction) { _, _ in .remove }
      #expect(result.removed == Array(0..<30_000))
      #expect(try transaction.count(of: list.table) == 0)
    }
  }

  @Test func `elements larger than a row have rows of their own`() throws {
    try withList { list, transaction in
      let large = [[UInt8]](repeating: [], count: 3).indices.map {
        [UInt8](repeating: UInt8($0), count: 100_000 * ($0 + 1))
      }
      try list.append(contentsOf: smallElements(0..<100), in: &transaction)
      for element in large {
        try list.insert(element.span, at: 50, in: &transaction)
      }
      let expected = smallElements(0..<50) + large.reversed() + smallElements(50..<100)
      #expect(try list.elements(in: transaction.snapshot) == expected)
      let shape = try list.checkInvariants(in: transaction.snapshot)
      #expect(shape.leafCount == 5)
      try list.remove(in: 50..<53, in: &transaction)
      #expect(try transaction.count(of: list.table) == 1)
    }
  }

  @Test func `editing beside a large element does not rewrite it`() throws {
    try withList { list, transaction in
      let large = [UInt8](repeating: 1, count: 50_000)
      try list.append(contentsOf: [[1], large, [2], large, [3]], in: &transaction)
      let before = try list.rows(in: transaction.snapshot)
      try list.replace(at: 2, with: Span(), in: &transaction)
      try list.remove(in: 4..<5, in: &transaction)
      let after = try list.rows(in: transaction.snapshot)
      let isKept = before.filter { $0.value.count > 50_000 }.allSatisfy {
        after[$0.key] == $0.value
      }
      #expect(isKept)
      #expect(try list.elements(in: transaction.snapshot) == [[1], large, [], large])
      try list.checkInvariants(in: transaction.snapshot)
    }
  }

  @Test func `the rows of a list lie under its number`() throws {
    try withList(number: 0x0102) { list, transaction in
      try list.append(contentsOf: [[1]], in: &transaction)
      let keys = try list.rows(in: transaction.snapshot).keys.map(\.self)
      #expect(keys == [[0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0]])
      #expect(list.keyPrefix == [0, 0, 0, 0, 0, 0, 1, 2])
      let key = list.key(ofBlock: 0x0A0B)
      #expect([UInt8](key.span.extracting(8...)) == [0, 0, 0, 0, 0, 0, 0x0A, 0x0B])
    }
  }

  @Test(arguments: [5_000, 100_000])
  func `one whole leaf can be what is left`(count: Int) throws {
    // Once the root kept a single child: no row of the lowest level was written, and one stayed.
    try withList { list, transaction in
      let elements = smallElements(0..<count)
      try list.append(contentsOf: elements, in: &transaction)
      let key = list.key(ofBlock: CountedList.leafBit | 1)
      let row = try list.rows(in: transaction.snapshot)[[UInt8](key.span)] ?? []
      let leafCount = Int(row[24]) | Int(row[25]) << 8
      try list.remove(in: leafCount..<count, in: &transaction)
      #expect(try list.elements(in: transaction.snapshot) == Array(elements[..<leafCount]))
      #expect(try list.checkInvariants(in: transaction.snapshot).height == 1)
    }
  }

  @Test(arguments: seeds(3))
  func `lists of one table do not touch each other`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let numbers: [UInt64] = [0, 1, 2, 255, 256, 1 << 40, .max - 1, .max]
    var expected: [UInt64: [[UInt8]]] = [:]
    try withList { list, transaction in
      for _ in 0..<80 {
        let number = numbers.randomElement(using: &random) ?? 0
        let list = CountedList(table: list.table, number: number)
        var elements = expected[number, default: []]
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
          try list.removeAll(in: &transaction)
          elements = []
        case 1:
          let range = 0..<Int.random(in: 0...elements.count, using: &random)
          try list.remove(in: range, in: &transaction)
          elements.removeSubrange(range)
        default:
          let index = Int.random(in: 0...elements.count, using: &random)
          let inserted = smallElements(0..<Int.random(in: 0...900, using: &random))
          try list.insert(contentsOf: inserted, at: index, in: &transaction)
          elements.insert(contentsOf: inserted, at: index)
        }
        expected[number] = elements
      }
      for number in numbers {
        let list = CountedList(table: list.table, number: number)
        #expect(try list.elements(in: transaction.snapshot) == expected[number] ?? [])
        try list.checkInvariants(in: transaction.snapshot)
      }
    }
  }

  @Test func `replacing all elements leaves nothing of the old ones`() throws {
    try withList { list, transaction in
      try list.append(contentsOf: smallElements(0..<20_000), in: &transaction)
      try list.replaceAll(with: smallElements(5..<2_000), in: &transaction)
      #expect(try list.elements(in: transaction.snapshot) == smallElements(5..<2_000))
      try list.checkInvariants(in: transaction.snapshot)
    }
  }

  @Test func `an index outside the list stops the process`() async {
    await #expect(processExitsWith: .failure) {
      try withList { list, transaction in
        try list.insert([1].span, at: 1, in: &transaction)
      }
    }
    await #expect(processExitsWith: .failure) {
      try withList { list, transaction in
        try list.append(contentsOf: [[1], [2]], in: &transaction)
        _ = try list.element(at: 2, in: transaction.snapshot)
      }
    }
    await #expect(processExitsWith: .failure) {
      try withList { list, transaction in
        try list.append(contentsOf: [[1], [2]], in: &transaction)
        try list.remove(in: 1..<3, in: &transaction)
      }
    }
  }
}
