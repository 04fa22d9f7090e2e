import PandoFixtures
import PandoSystem
import Testing

@Suite struct ChunkedArrayTests {
  private final class Object: Equatable {
    let number: Int

    init(_ number: Int) { self.number = number }

    static func == (left: Object, right: Object) -> Bool { left === right }
  }

  @Test(arguments: seeds(20))
  func `a chunked array equals an array after the same changes`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var model = Array(0..<Int.random(in: 0...2_000, using: &random))
    var chunked = ChunkedArray(model)
    var former: [(ChunkedArray<Int>, [Int])] = []
    for step in 0..<3_000 {
      // Mostly growing, then mostly shrinking.
      let grows = step < 1_500 ? 3 : 1
      let place = Int.random(in: 0...model.count, using: &random)
      let index = chunked.index(chunked.startIndex, offsetBy: place)
      switch Int.random(in: 0..<5, using: &random) {
      case 0..<grows:
        model.insert(step, at: place)
        chunked.insert(step, at: index)
      case 4 where place < model.count:
        model[place] = -step
        chunked[index] = -step
      default:
        guard place < model.count else { continue }
        #expect(chunked.remove(at: index) == model.remove(at: place))
      }
      if step % 500 == 0 { former.append((chunked, model)) }
    }
    former.append((chunked, model))
    for (chunked, model) in former {
      #expect(Array(chunked) == model && chunked.count == model.count)
      #expect(chunked.reversed() == model.reversed())
      let low = Int.random(in: 0...model.count, using: &random)
      let range = low..<Int.random(in: low...model.count, using: &random)
      #expect(chunked.elements(in: range) { $0 } == Array(model[range]))
    }
  }

  @Test(arguments: seeds(6))
  func `versions differ in the parts that say so, and nowhere else`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var chunked = ChunkedArray((0..<Int.random(in: 0...2_000, using: &random)).map(Object.init))
    for step in 0..<40 {
      let former = chunked
      for change in 0..<([0, 1, 1, 2, 10, 300].randomElement(using: &random) ?? 1) {
        let place = Int.random(in: 0...chunked.count, using: &random)
        let index = chunked.index(chunked.startIndex, offsetBy: place)
        if change % 3 == step % 3, place < chunked.count {
          _ = chunked.remove(at: index)
        } else {
          chunked.insert(Object(-change), at: index)
        }
      }
      let (old, new) = (Array(former), Array(chunked))
      let parts = chunked.changedParts(since: former)
      var made: [Object] = []
      var end = 0
      for part in parts {
        #expect(part.old.lowerBound >= end && !(part.old.isEmpty && part.new.isEmpty))
        #expect(part.old.isEmpty || part.new.isEmpty || old[part.old].first != new[part.new].first)
        #expect(part.old.isEmpty || part.new.isEmpty || old[part.old].last != new[part.new].last)
        made += old[end..<part.old.lowerBound]
        #expect(made.count == part.new.lowerBound)
        made += new[part.new]
        end = part.old.upperBound
      }
      #expect(made + old[end...] == new)
      if old == new { #expect(parts.isEmpty) }
    }
  }

  @Test func `a move is two parts of one element`() {
    let former = ChunkedArray((0..<100_000).map(Object.init))
    var chunked = former
    // A move over half of the array.
    let moved = chunked.remove(at: chunked.partitioningIndex { $0.number >= 20_000 })
    chunked.insert(moved, at: chunked.partitioningIndex { $0.number >= 70_000 })
    let parts = chunked.changedParts(since: former)
    #expect(parts.map(\.old) == [20_000..<20_001, 70_000..<70_000])
    #expect(parts.map(\.new) == [20_000..<20_000, 69_999..<70_000])
  }

  @Test(arguments: [0, 1, 127, 128, 129, 1_000])
  func `the border between two parts is found`(count: Int) {
    let chunked = ChunkedArray(0..<count)
    for border in 0...count {
      let index = chunked.partitioningIndex { $0 >= border }
      #expect(chunked.distance(from: chunked.startIndex, to: index) == border)
    }
  }

  @Test func `an array that loses all takes elements again`() {
    var chunked = ChunkedArray(0..<300)
    for number in (0..<300).reversed() {
      #expect(chunked.remove(at: chunked.index(before: chunked.endIndex)) == number)
    }
    #expect(chunked.startIndex == chunked.endIndex && chunked.count == 0)
    chunked.insert(1, at: chunked.endIndex)
    chunked.insert(0, at: chunked.startIndex)
    #expect(Array(chunked) == [0, 1])
  }
}
