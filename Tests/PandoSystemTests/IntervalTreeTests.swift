import PandoFixtures
import PandoSystem
import Testing

@Suite struct IntervalTreeTests {
  private struct Entry: Hashable {
    var value: Int
    var lower: Int?
    var upper: Int?

    func contains(_ point: Int) -> Bool { (lower ?? point) <= point && point <= (upper ?? point) }
  }

  @Test(arguments: seeds(20))
  func `a point finds the values of all intervals that contain it`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var tree = IntervalTree<Int, Int>()
    var model: Set<Entry> = []
    func bound() -> Int? {
      Int.random(in: 0..<6, using: &random) == 0 ? nil : Int.random(in: 0..<50, using: &random)
    }
    for step in 0..<2_000 {
      // Mostly growing, then mostly shrinking.
      if Int.random(in: 0..<4, using: &random) < (step < 1_000 ? 3 : 1) {
        let entry = Entry(value: step % 100, lower: bound(), upper: bound())
        if model.insert(entry).inserted {
          tree.insert(entry.value, .init(entry.lower, entry.upper))
        }
      } else if let entry = model.randomElement(using: &random) {
        model.remove(entry)
        tree.remove(entry.value, .init(entry.lower, entry.upper))
      }
      #expect(tree.count == model.count && tree.isEmpty == model.isEmpty)
      guard step % 20 == 0 else { continue }
      tree.checkInvariants()
      for point in -1...50 {
        var found: [Int] = []
        tree.forEachValue(containing: point) { found.append($0) }
        #expect(found.sorted() == model.filter { $0.contains(point) }.map(\.value).sorted())
      }
    }
  }

  @Test func `removing what the tree does not have changes nothing`() {
    var tree = IntervalTree<Int, Int>()
    tree.insert(1, .init(2, 4))
    tree.remove(1, .init(2, 5))
    tree.remove(2, .init(2, 4))
    #expect(tree.count == 1)
    tree.remove(1, .init(2, 4))
    #expect(tree.isEmpty)
  }
}
