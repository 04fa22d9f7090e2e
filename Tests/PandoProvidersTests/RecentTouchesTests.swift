import PandoFixtures
import PandoModels
import PandoProviders
import Testing

@Suite struct RecentTouchesTests {
  private func keys(_ numbers: some Sequence<Int>) -> [ByteString] {
    numbers.map { ByteString("\($0)") }
  }

  @Test func `a key counts as touched after the numbers before its last touch`() {
    var touches = RecentTouches()
    #expect(!touches.containsAny(after: 0))
    touches.touch(keys([1]), by: 5)
    touches.touch(keys([2]), by: 6)
    #expect(touches.contains(keys([1]), after: 4))
    #expect(!touches.contains(keys([1]), after: 5))
    #expect(touches.contains(keys([1, 2]), after: 5))
    #expect(!touches.contains(keys([3]), after: 4))
    #expect(touches.containsAny(after: 5))
    #expect(!touches.containsAny(after: 6))
  }

  @Test func `a discarded touch may have been of any key`() {
    var touches = RecentTouches()
    touches.touch(keys([1]), by: 5)
    touches.forget(upTo: 7)
    #expect(touches.contains(keys([3]), after: 6))
    #expect(touches.containsAny(after: 6))
    #expect(!touches.contains(keys([1]), after: 7))
  }

  /// However many are touched: none that was touched is missed, and the newest are known exactly.
  @Test func `of more keys than are remembered, none that was touched is missed`() {
    var touches = RecentTouches()
    for number in 1...100 {
      touches.touch(keys((number * 1000)..<(number * 1000 + 1000)), by: UInt64(number))
    }
    for number in 1...100 {
      // Apart, because a failure would print all that is remembered.
      let isKnown = touches.contains(keys([number * 1000 + 500]), after: UInt64(number) - 1)
      #expect(isKnown, "\(number)")
    }
    let mayBe = [99, 90, 1].map { touches.contains(keys([1]), after: $0) }
    #expect(mayBe == [false, false, true])
  }
}
