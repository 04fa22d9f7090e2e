import PandoFixtures
import PandoSystem
import Testing

@Suite struct InvertedIndexTests {
  @Test(arguments: seeds(4))
  func `both directions are those of a set of pairs`(seed: UInt64) {
    struct Pair: Hashable {
      let key: Int
      let holder: Int
    }
    var random = SeededGenerator(seed: seed)
    var index = InvertedIndex<Int, Int>()
    var pairs: Set<Pair> = []
    for step in 0..<1_000 {
      let holder = Int.random(in: 0..<6, using: &random)
      let keys = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
        Int.random(in: 0..<8, using: &random)
      }
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1:
        index.insert(keys, of: holder)
        for key in keys { pairs.insert(Pair(key: key, holder: holder)) }
      case 2:
        index.remove(keys, of: holder)
        for key in keys { pairs.remove(Pair(key: key, holder: holder)) }
      default:
        index.remove(holder)
        pairs = pairs.filter { $0.holder != holder }
      }
      let comment: Comment = "seed \(seed), step \(step)"
      for key in 0..<8 {
        let holders = Set(pairs.filter { $0.key == key }.map(\.holder))
        #expect(index.holders(of: key) == holders, comment)
        #expect(index.contains(key) == !holders.isEmpty, comment)
      }
      let some = Set((0..<step % 12).map { _ in Int.random(in: 0..<10, using: &random) })
      #expect(
        index.holders(ofAny: some) == Set(pairs.filter { some.contains($0.key) }.map(\.holder)),
        comment)
      for holder in 0..<6 {
        #expect(
          index.keys(of: holder) == Set(pairs.filter { $0.holder == holder }.map(\.key)), comment)
      }
      #expect(index.isEmpty == pairs.isEmpty, comment)
    }
  }
}
