import PandoFixtures
import PandoModels
import Testing

@Suite struct RowDifferenceTests {
  /// A row with its contents.
  private struct Row: Equatable {
    let number: UInt32
    let contents: Int
  }

  /// Shows for one pair that the changes lead from one list to the other, and that they are the fewest.
  private func check(
    from old: [UInt32], to new: [UInt32], updated: [UInt32]
  ) throws -> [CollectionChangeInformation] {
    let changes = RowDifference.changes(from: old, to: new, updated: updated)
    try expectOrder(changes)
    let before = old.map { Row(number: $0, contents: 0) }
    let after = new.map { row in
      Row(number: row, contents: updated.contains(row) || !old.contains(row) ? 1 : 0)
    }
    var reference = ChangeReference(before)
    for change in changes { try reference.apply(change) }
    let isRight = reference.shows(after, isSame: { $0.number == $1.number }, isEqual: ==)
    try #require(isRight, "\(old) -> \(new), updated \(updated): \(changes)")
    try #require(before.applying(changes) { after[$0] } == after, "\(old) -> \(new): \(changes)")
    return changes
  }

  /// The fewest changes: all but the longest part that keeps its order.
  private func fewestChanges(from old: [UInt32], to new: [UInt32]) -> Int {
    let common = new.compactMap { row in old.firstIndex(of: row) }
    var best: [Int] = []
    for (index, place) in common.enumerated() {
      let before = common[..<index].indices.filter { common[$0] < place }
      best.append(1 + (before.map { best[$0] }.max() ?? 0))
    }
    return old.count - common.count + new.count - common.count + common.count - (best.max() ?? 0)
  }

  /// All orders of all subsets.
  private func arrangements(of rows: [UInt32]) -> [[UInt32]] {
    var all: [[UInt32]] = [[]]
    for row in rows {
      let rest = rows.filter { $0 != row }
      all += arrangements(of: rest).map { [row] + $0 }
    }
    return all
  }

  @Test func `every short list becomes every other with the fewest changes`() throws {
    // Numbers far apart, close together, and at the ends of their range.
    let rows: [UInt32] = [7, 0, .max, 6, 3_000_000_000]
    let lists = arrangements(of: rows)
    for count in 0...4 {
      let old = Array(rows.prefix(count))
      for new in lists {
        let changes = try check(from: old, to: new, updated: [])
        try #require(changes.count == fewestChanges(from: old, to: new), "\(old) -> \(new)")
      }
    }
  }

  @Test func `every order of six rows is reached with the fewest moves`() throws {
    let old: [UInt32] = [10, 11, 12, 13, 14, 15]
    for new in arrangements(of: old) where new.count == old.count {
      let changes = try check(from: old, to: new, updated: [12, 15])
      let moves = changes.count { if case .move = $0 { true } else { false } }
      try #require(moves == fewestChanges(from: old, to: new), "\(new): \(changes)")
    }
  }

  @Test(arguments: seeds(8))
  func `random edits of long lists`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<30 {
      let span = [300, 10_000, Int(UInt32.max)].randomElement(using: &random) ?? 300
      func makeRow() -> UInt32 { UInt32(Int.random(in: 0...span, using: &random)) }
      var old: [UInt32] = []
      for _ in 0..<Int.random(in: 0...150, using: &random) {
        let row = makeRow()
        if !old.contains(row) { old.append(row) }
      }
      var new = old
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        let row = makeRow()
        let index = Int.random(in: 0...new.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where !new.contains(row): new.insert(row, at: index)
        case 1 where index < new.count: new.remove(at: index)
        case 2 where index < new.count:
          let row = new.remove(at: index)
          new.insert(row, at: Int.random(in: 0...new.count, using: &random))
        case 3 where seed == 0: new.shuffle(using: &random)
        default: break
        }
      }
      var updated = old.filter { _ in Int.random(in: 0..<10, using: &random) == 0 }
      updated.append(makeRow())
      updated.shuffle(using: &random)
      let changes = try check(from: old, to: new, updated: updated)
      let inserted = RowDifference.changes(from: old, to: new, updated: [])
      try #require(inserted.count == fewestChanges(from: old, to: new))
      try #require(changes.starts(with: inserted))
    }
  }

  @Test func `a single edit of a long list is a single change`() {
    let rows = Array<UInt32>(0..<10_000)
    var inserted = rows
    inserted.insert(20_000, at: 5_000)
    var moved = rows
    moved.insert(moved.remove(at: 9_000), at: 0)
    func changes(_ old: [UInt32], _ new: [UInt32]) -> [CollectionChangeInformation] {
      RowDifference.changes(from: old, to: new, updated: [])
    }
    #expect(changes(rows, inserted) == [.insert(index: 5_000)])
    #expect(changes(inserted, rows) == [.delete(index: 5_000)])
    #expect(changes(rows, moved) == [.move(from: 9_000, to: 0)])
    #expect(changes(moved, rows) == [.move(from: 0, to: 9_000)])
    #expect(changes(rows, rows) == [])
    #expect(
      RowDifference.changes(from: rows, to: rows, updated: [17, 3, 12_345]) == [
        .update(index: 3), .update(index: 17),
      ])
  }

  @Test func `a moved row that was updated is named as updated, too`() throws {
    let changes = try check(from: [1, 2, 3, 4], to: [4, 1, 2, 3], updated: [4, 2])
    #expect(changes == [.move(from: 3, to: 0), .update(index: 0), .update(index: 2)])
  }

  @Test func `changes elsewhere are listed together from high to low`() {
    let rows: [UInt32] = [5, 9, 2, 7, 4_000_000_000]
    let changes = RowDifference.changes(
      in: rows, deleted: [7, 5, 100], updated: [2, 4_000_000_000, 7])
    #expect(
      changes == [
        .update(index: 4), .delete(index: 3), .update(index: 2), .delete(index: 0),
      ])
    #expect(rows.applying(changes) { UInt32($0) } == [9, 1, 2])
  }
}
