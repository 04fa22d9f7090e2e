import PandoFixtures
import PandoSystem
import Testing

@Suite struct BinarySearchTests {
  @Test(arguments: seeds(4))
  func `a search finds what a scan finds`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for step in 0..<500 {
      let list = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        Int.random(in: 0..<30, using: &random)
      }.sorted()
      let part = list[Int.random(in: 0...list.count, using: &random)...]
      let key = Int.random(in: -1...30, using: &random)
      let comment: Comment = "seed \(seed), step \(step)"
      #expect(
        part.partitioningIndex { $0 >= key } == part.firstIndex { $0 >= key } ?? part.endIndex,
        comment)
      #expect(part.binarySearch(for: key, by: \.self) == part.firstIndex(of: key), comment)
    }
  }

  @Test func `a search looks at no more elements than the logarithm says`() {
    for count in [0, 1, 2, 3, 1000, 1 << 20] {
      var lookCount = 0
      let index = (0..<count).partitioningIndex { element in
        lookCount += 1
        return element >= count / 3
      }
      #expect(index == count / 3)
      #expect(lookCount <= count.bitWidth - count.leadingZeroBitCount)
    }
  }

  @Test func `an error of the closure ends the search`() {
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      try [1, 2, 3].partitioningIndex { _ throws(Refusal) in throw Refusal() }
    }
  }
}
