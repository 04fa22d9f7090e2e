import PandoFixtures
import PandoLMDB
import Testing

@testable import PandoStore

@Suite struct CountedListModelTests {
  /// The sizes of the elements in a run.
  enum Elements: CaseIterable {
    case empty, small, medium, nearlyARow, mixed

    func next(_ random: inout SeededGenerator) -> [UInt8] {
      let count =
        switch self {
        case .empty: 0
        case .small: Int.random(in: 0...12, using: &random)
        case .medium: Int.random(in: 100...300, using: &random)
        case .nearlyARow: Int.random(in: 900...2_000, using: &random)
        case .mixed:
          [0, 3, 8, 127, 128, 450, 479, 960, 1_900, 1_918, 1_919, 5_000, 20_000]
            .randomElement(using: &random) ?? 0
        }
      // Few different bytes and a random beginning: equal elements and different ones.
      return [UInt8](repeating: UInt8(truncatingIfNeeded: random.next() & 3), count: count)
    }

    var stepCount: Int { self == .small || self == .medium ? 120 : 80 }
    var insertCountMax: Int {
      switch self {
      case .empty: 1_500
      case .small: 900
      case .medium: 250
      case .nearlyARow: 60
      case .mixed: 25
      }
    }
  }

  @Test(arguments: Elements.allCases, seeds(2))
  func `random changes do the same as on an array`(elements: Elements, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var expected: [[UInt8]] = []
    try withList { list, transaction in
      for step in 0..<elements.stepCount {
        let change = try Self.change(list, &expected, elements, &random, in: &transaction)
        let place = "\(elements), seed \(seed), step \(step), \(change)"
        do {
          let shape = try list.checkInvariants(in: transaction.snapshot)
          try #require(shape.elementCount == expected.count, "\(place)")
          try #require(shape.isEmpty == expected.isEmpty, "\(place)")
        } catch let error as CountedListError {
          Issue.record("\(place): \(error)")
          throw error
        }
        let actual = try list.elements(in: transaction.snapshot)
        try #require(actual == expected, "\(place)")
        try Self.checkReading(list, expected, &random, in: transaction.snapshot)
      }
    }
  }

  /// Makes one random change to both.
  private static func change(
    _ list: CountedList, _ expected: inout [[UInt8]], _ elements: Elements,
    _ random: inout SeededGenerator, in transaction: inout WriteTransaction
  ) throws -> String {
    let count = expected.count
    let position = Int.random(in: 0...count, using: &random)
    let kind = count == 0 ? 0 : Int.random(in: 0..<12, using: &random)
    switch kind {
    case 0, 1:
      let inserted = (0..<Int.random(in: 0...elements.insertCountMax, using: &random))
        .map { _ in elements.next(&random) }
      try list.insert(contentsOf: inserted, at: position, in: &transaction)
      expected.insert(contentsOf: inserted, at: position)
      return "insert \(inserted.count) at \(position)"
    case 2, 3, 4:
      let element = elements.next(&random)
      let index = kind == 2 ? position : kind == 3 ? 0 : count
      try list.insert(element.span, at: index, in: &transaction)
      expected.insert(element, at: index)
      return "insert \(element.count) bytes at \(index) of \(count)"
    case 5, 6:
      let (element, index) = (elements.next(&random), position % count)
      try list.replace(at: index, with: element.span, in: &transaction)
      expected[index] = element
      return "replace at \(index) with \(element.count) bytes"
    case 7:
      let (from, to) = (position % count, Int.random(in: 0..<count, using: &random))
      try list.move(from: from, to: to, in: &transaction)
      expected.insert(expected.remove(at: from), at: to)
      return "move from \(from) to \(to)"
    case 8:
      let range = range(from: position, longest: 3, of: count, &random)
      try list.remove(in: range, in: &transaction)
      expected.removeSubrange(range)
      return "remove \(range) of \(count)"
    case 9:
      let range = range(from: position, longest: count, of: count, &random)
      try list.remove(in: range, in: &transaction)
      expected.removeSubrange(range)
      return "remove \(range) of \(count)"
    case 10:
      let range = range(from: position, longest: count, of: count, &random)
      let inserted = (0..<Int.random(in: 0...20, using: &random)).map { _ in elements.next(&random)
      }
      try list.replace(in: range, with: inserted, in: &transaction)
      expected.replaceSubrange(range, with: inserted)
      return "replace \(range) of \(count) with \(inserted.count)"
    default:
      return try edit(list, &expected, elements, &random, in: &transaction)
    }
  }

  private static func range(
    from lower: Int, longest: Int, of count: Int, _ random: inout SeededGenerator
  ) -> Range<Int> {
    lower..<min(count, lower + Int.random(in: 0...longest, using: &random))
  }

  private static func edit(
    _ list: CountedList, _ expected: inout [[UInt8]], _ elements: Elements,
    _ random: inout SeededGenerator, in transaction: inout WriteTransaction
  ) throws -> String {
    let share = [2, 3, 50, 500].randomElement(using: &random) ?? 2
    var edits: [CountedList.Edit] = []
    for _ in expected {
      switch Int.random(in: 0..<share, using: &random) {
      case 0: edits.append(.remove)
      case 1 where share > 2: edits.append(.replace(elements.next(&random)))
      default: edits.append(.keep)
      }
    }
    if Int.random(in: 0..<3, using: &random) == 0,
      let last = edits.indices.randomElement(using: &random)
    {
      for index in last..<edits.count { edits[index] = .keepRest }
    }
    let old = expected
    var expectedResult = CountedList.EditResult()
    expected = []
    for (index, edit) in edits.enumerated() {
      switch edit {
      case .keep, .keepRest: expected.append(old[index])
      case .remove: expectedResult.removed.append(index)
      case .replace(let element):
        expected.append(element)
        expectedResult.replaced.append(index)
      }
    }
    let result = try list.edit(in: &transaction) { index, bytes in
      #expect([UInt8](bytes) == old[index])
      return edits[index]
    }
    #expect(result == expectedResult)
    return "edit one of \(share) among \(old.count)"
  }

  private static func checkReading(
    _ list: CountedList, _ expected: [[UInt8]], _ random: inout SeededGenerator,
    in snapshot: Snapshot
  ) throws {
    try #require(list.count(in: snapshot) == expected.count)
    let lower = Int.random(in: 0...expected.count, using: &random)
    let range = lower..<Int.random(in: lower...expected.count, using: &random)
    try #require(list.elements(in: snapshot, range) == Array(expected[range]))
    guard let index = expected.indices.randomElement(using: &random) else { return }
    let element = try list.element(at: index, in: snapshot)
    try #require([UInt8](element) == expected[index])
  }
}

extension CountedList.Shape {
  fileprivate var isEmpty: Bool { byteCount == 0 && height == 0 && leafCount == 0 }
}
