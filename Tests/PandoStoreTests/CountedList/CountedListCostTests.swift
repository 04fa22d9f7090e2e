import PandoFixtures
import PandoLMDB
import Testing

@testable import PandoStore

@Suite struct CountedListCostTests {
  /// Rows and bytes that a change wrote, and rows that it deleted.
  struct Cost {
    var rowsWritten = 0
    var bytesWritten = 0
    var rowsDeleted = 0
  }

  private func cost(
    of list: CountedList, in transaction: inout WriteTransaction,
    _ change: (inout WriteTransaction) throws -> Void
  ) throws -> Cost {
    let before = try list.rows(in: transaction.snapshot)
    try change(&transaction)
    let after = try list.rows(in: transaction.snapshot)
    var cost = Cost()
    for (key, value) in after where before[key] != value {
      cost.rowsWritten += 1
      cost.bytesWritten += value.count
    }
    cost.rowsDeleted = before.keys.count { after[$0] == nil }
    return cost
  }

  @Test(arguments: [0, 33_333, 50_000, 99_999, 100_000])
  func `one insert into 100 000 elements rewrites one row on each level`(index: Int) throws {
    try withList { list, transaction in
      try list.replaceAll(with: smallElements(0..<100_000), in: &transaction)
      let shape = try list.checkInvariants(in: transaction.snapshot)
      #expect(shape.height == 3)
      let cost = try cost(of: list, in: &transaction) { transaction in
        try list.insert([1, 2, 3, 4].span, at: index, in: &transaction)
      }
      #expect(cost.rowsWritten == shape.height)
      #expect(cost.rowsDeleted == 0)
      #expect(cost.bytesWritten < 3 * 2_000)
    }
  }

  @Test(arguments: seeds(2))
  func `inserts rewrite at most two rows on each level and one more`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withList { list, transaction in
      try list.replaceAll(with: smallElements(0..<10_000), in: &transaction)
      var (rows, bytes) = (0, 0)
      for step in 0..<60 {
        let index = Int.random(in: 0...(10_000 + step), using: &random)
        let height = try list.checkInvariants(in: transaction.snapshot).height
        let cost = try cost(of: list, in: &transaction) { transaction in
          try list.insert([5, 6, 7].span, at: index, in: &transaction)
        }
        #expect(cost.rowsWritten <= 2 * height + 1, "seed \(seed), step \(step)")
        rows += cost.rowsWritten
        bytes += cost.bytesWritten
      }
      #expect(rows <= 60 * 3)
      #expect(bytes <= 60 * 3 * 2_000)
      try list.checkInvariants(in: transaction.snapshot)
    }
  }

  @Test func `an insert writes at most three times what it writes into a list of 1 000`() throws {
    var bytes: [Int] = []
    for count in [1_000, 100_000] {
      try withList { list, transaction in
        try list.replaceAll(with: smallElements(0..<count), in: &transaction)
        let cost = try cost(of: list, in: &transaction) { transaction in
          try list.insert([1, 2, 3, 4, 5, 6].span, at: count / 2, in: &transaction)
        }
        bytes.append(cost.bytesWritten)
      }
    }
    #expect(bytes[1] <= 3 * bytes[0], "bytes written: \(bytes)")
  }

  @Test func `removing one element and moving one are as cheap as an insert`() throws {
    try withList { list, transaction in
      try list.replaceAll(with: smallElements(0..<100_000), in: &transaction)
      let removal = try cost(of: list, in: &transaction) { transaction in
        try list.remove(in: 50_000..<50_001, in: &transaction)
      }
      #expect(removal.rowsWritten == 3)
      let move = try cost(of: list, in: &transaction) { transaction in
        try list.move(from: 10, to: 90_000, in: &transaction)
      }
      #expect(move.rowsWritten <= 2 * 3 - 1)
    }
  }

  @Test func `a short list is one row`() throws {
    try withList { list, transaction in
      try list.append(contentsOf: smallElements(0..<200), in: &transaction)
      let shape = try list.checkInvariants(in: transaction.snapshot)
      #expect((shape.height, shape.leafCount, shape.innerRowCount) == (1, 1, 0))
      #expect(try transaction.count(of: list.table) == 1)
    }
  }

  @Test(arguments: [true, false])
  func `one element after the other at an end fills rows to the brim`(atEnd: Bool) throws {
    try withList { list, transaction in
      for index in 0..<6_000 {
        try list.insert([1, 2, 3, 4, 5, 6, 7].span, at: atEnd ? index : 0, in: &transaction)
      }
      let shape = try list.checkInvariants(in: transaction.snapshot)
      #expect(shape.leafCount == (6_000 * 8 + 1_919) / 1_920)
    }
  }

  @Test func `rows made at once leave room for the first inserts`() throws {
    try withList { list, transaction in
      try list.replaceAll(with: smallElements(0..<20_000), in: &transaction)
      let shape = try list.checkInvariants(in: transaction.snapshot)
      let byteCountMean = 20_000 * 7 / shape.leafCount
      #expect((1_500...1_700).contains(byteCountMean))
      #expect(shape.underfullLeafCount == 0)
    }
  }

  @Test(arguments: seeds(2))
  func `leaves do not stay nearly empty`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withList { list, transaction in
      try list.replaceAll(with: smallElements(0..<8_000), in: &transaction)
      for count in (400..<8_000).reversed() {
        let index = Int.random(in: 0...count, using: &random)
        try list.remove(in: index..<(index + 1), in: &transaction)
      }
      let shape = try list.checkInvariants(in: transaction.snapshot)
      #expect(shape.elementCount == 400)
      #expect(shape.underfullLeafCount == 0)
      // 400 elements of 7 bytes with their lengths, at least 480 bytes in a leaf.
      #expect(shape.leafCount <= 400 * 7 / 480)
    }
  }

  @Test func `a nearly empty row takes from a full neighbour`() throws {
    try withList { list, transaction in
      // 45 000 elements of 9 bytes with their lengths, 186 in a leaf of 1 680 bytes: about 240
      // leaves beneath two rows, and those are nearly full with 120 children each.
      let elements = repeatElement([UInt8](repeating: 1, count: 8), count: 44_000)
      try list.replaceAll(with: elements, in: &transaction)
      let shape = try list.checkInvariants(in: transaction.snapshot)
      #expect((220...240).contains(shape.leafCount))
      #expect(shape.innerRowCount == 3)
      // The second of the two keeps a few leaves, and the last leaf a few elements.
      let kept = 22_000 + 10 * 186 + 20
      try list.remove(in: kept..<44_000, in: &transaction)
      let after = try list.checkInvariants(in: transaction.snapshot)
      #expect(after.innerRowCount == 3)
      #expect(after.underfullLeafCount == 0)
    }
  }

  @Test func `a list shrinks to one row and to none`() throws {
    try withList { list, transaction in
      try list.replaceAll(with: smallElements(0..<50_000), in: &transaction)
      try list.remove(in: 20..<49_990, in: &transaction)
      #expect(try transaction.count(of: list.table) == 1)
      let expected = smallElements(0..<20) + smallElements(49_990..<50_000)
      #expect(try list.elements(in: transaction.snapshot) == expected)
      try list.remove(in: 0..<30, in: &transaction)
      #expect(try transaction.count(of: list.table) == 0)
    }
  }

  @Test func `an edit writes only the leaves in which something changes`() throws {
    try withList { list, transaction in
      try list.replaceAll(with: smallElements(0..<50_000), in: &transaction)
      var result = CountedList.EditResult()
      let cost = try cost(of: list, in: &transaction) { transaction in
        result = try list.edit(in: &transaction) { index, _ in
          [25_000, 25_001, 40_000].contains(index) ? .remove : .keep
        }
      }
      #expect(result.removed == [25_000, 25_001, 40_000])
      #expect(cost.rowsWritten <= 3 + 3 + 2)
    }
  }
}
