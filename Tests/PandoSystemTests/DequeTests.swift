import PandoFixtures
import PandoSystem
import Testing

@Suite struct DequeTests {
  @Test(arguments: seeds(8))
  func `random changes do what they do to an array`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var deque = Deque<Int>()
    var array: [Int] = []
    var next = 0
    for step in 0..<4_000 {
      next += 1
      // The queue is long for a while, then short.
      let isGrowing = step % 1_000 < 600
      switch Int.random(in: 0..<(isGrowing ? 14 : 10), using: &random) {
      case 0...2:
        #expect(deque.popFirst() == array.first)
        if !array.isEmpty { array.removeFirst() }
      case 3:
        deque.prepend(next)
        array.insert(next, at: 0)
      case 4:
        let count = Int.random(in: 0...array.count, using: &random)
        deque.removeFirst(count)
        array.removeFirst(count)
      case 5 where !array.isEmpty:
        let index = Int.random(in: array.indices, using: &random)
        #expect(deque.remove(at: index) == array.remove(at: index))
      case 6 where !array.isEmpty:
        let index = Int.random(in: array.indices, using: &random)
        deque[index] = next
        array[index] = next
      case 7:
        let index = Int.random(in: 0...array.count, using: &random)
        deque.insert(next, at: index)
        array.insert(next, at: index)
      case 8:
        let start = Int.random(in: 0...array.count, using: &random)
        let end = Int.random(in: start...array.count, using: &random)
        let new = Array(next..<next + Int.random(in: 0..<4, using: &random))
        deque.replaceSubrange(start..<end, with: new)
        array.replaceSubrange(start..<end, with: new)
      case 9:
        deque.removeAll { $0.isMultiple(of: 7) }
        array.removeAll { $0.isMultiple(of: 7) }
      default:
        deque.append(contentsOf: next..<next + 3)
        array.append(contentsOf: next..<next + 3)
      }
      try #require(Array(deque) == array, "seed \(seed), step \(step)")
      #expect(deque.count == array.count)
      #expect(deque.isEmpty == array.isEmpty)
      #expect(deque.first == array.first)
      #expect(deque.last == array.last)
    }
  }

  @Test func `elements leave memory when they leave the queue`() {
    final class Element {}
    var deque = Deque<Element>()
    let elements = WeakElements<Element>()
    for _ in 0..<4 {
      let element = Element()
      elements.add(element)
      deque.append(element)
    }
    #expect(elements.count == 4)
    _ = deque.popFirst()
    #expect(elements.count == 3)
    deque.removeFirst(2)
    #expect(elements.count == 1)
    #expect(deque.count == 1)
  }

  @Test func `a long queue gives its elements in order`() {
    var deque = Deque<Int>()
    for number in 0..<100_000 { deque.append(number) }
    for number in 100_000..<300_000 {
      deque.append(number)
      #expect(deque.popFirst() == number - 100_000)
    }
    #expect(deque.count == 100_000)
    for number in 0..<100_000 { deque.prepend(number) }
    #expect(deque.first == 99_999)
    #expect(deque.count == 200_000)
  }
}

/// Counts which of some objects are alive.
private final class WeakElements<Element: AnyObject> {
  private var references: [WeakReference<Element>] = []

  func add(_ element: Element) { references.append(WeakReference(element)) }

  var count: Int { references.count { $0.object != nil } }
}
