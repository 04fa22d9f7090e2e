import PandoFixtures
import PandoSystem
import Testing

@Suite struct LongestIncreasingSubsequenceTests {
  /// How long the longest increasing subsequence is, by looking at all pairs.
  private static func length(_ values: [Int32]) -> Int {
    var lengths: [Int] = []
    for (index, value) in values.enumerated() {
      let before = values[..<index].indices.filter { values[$0] < value }.map { lengths[$0] }
      lengths.append(1 + (before.max() ?? 0))
    }
    return lengths.max() ?? 0
  }

  @Test(arguments: seeds(8))
  func `the subsequence increases and is as long as can be`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for step in 0..<300 {
      let limit = Int32.random(in: 1...40, using: &random)
      let values = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        Int32.random(in: 0..<limit, using: &random)
      }
      var subsequence = LongestIncreasingSubsequence()
      for (index, value) in values.enumerated() { subsequence.append(value, tag: index) }
      let found = subsequence.reversedElements()
      try #require(found.count == Self.length(values), "seed \(seed), step \(step): \(values)")
      for (element, before) in zip(found, found.dropFirst()) {
        try #require(element.tag > before.tag && element.value > before.value, "seed \(seed)")
      }
      for element in found { #expect(Int(values[element.tag]) == element.value) }
    }
  }

  @Test func `of values in descending order one is taken`() {
    var subsequence = LongestIncreasingSubsequence()
    // The places in a list of the elements of another one, for each the last place first.
    for (tag, values) in [[4, 1], [2], [4, 1], [3, 0]].enumerated() {
      for value in values { subsequence.append(Int32(value), tag: tag) }
    }
    #expect(subsequence.reversedElements().map(\.tag) == [3, 1, 0])
    #expect(subsequence.reversedElements().map(\.value) == [3, 2, 1])
  }
}
