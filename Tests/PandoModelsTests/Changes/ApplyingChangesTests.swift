import PandoFixtures
import PandoModels
import Testing

@Suite struct ApplyingChangesTests {
  @Test func `changes are applied one after another`() {
    let changes: [CollectionChangeInformation] = [
      .insert(index: 0), .delete(index: 2), .move(from: 0, to: 2), .update(index: 0),
    ]
    // a b c -> + a b c -> + a c -> a c + -> A c +
    #expect(["a", "b", "c"].applying(changes) { "new \($0)" } == ["new 0", "c", "new 2"])
  }

  @Test func `an element that is touched and then goes is not asked for`() {
    let changes: [CollectionChangeInformation] = [
      .insert(index: 1), .update(index: 0), .delete(index: 1), .delete(index: 0),
    ]
    var asked: [Int] = []
    let result = [1, 2].applying(changes) { index in
      asked.append(index)
      return 0
    }
    #expect(result == [2])
    #expect(asked.isEmpty)
  }

  @Test func `contents are asked for once each, from low to high`() {
    for changes: [CollectionChangeInformation] in [
      [.update(index: 2), .update(index: 0), .update(index: 2)],
      [.update(index: 2), .move(from: 0, to: 1), .move(from: 1, to: 0), .update(index: 2)],
    ] {
      var asked: [Int] = []
      let result = [1, 2, 3].applying(changes) { index in
        asked.append(index)
        return index
      }
      #expect(asked == [0, 2])
      #expect(result == [0, 2, 2])
    }
  }

  @Test(arguments: seeds(8))
  func `any changes in any order give what an array gives`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let old = Array(0..<Int.random(in: 0...20, using: &random))
      var reference = ChangeReference(old, touchesMoved: true)
      var changes: [CollectionChangeInformation] = []
      for _ in 0..<Int.random(in: 0...20, using: &random) {
        let count = reference.places.count
        let kind = count == 0 ? 0 : Int.random(in: 0..<4, using: &random)
        let index = Int.random(in: 0..<max(1, count), using: &random)
        let other = Int.random(in: 0..<max(1, count), using: &random)
        let change: CollectionChangeInformation =
          switch kind {
          case 0: .insert(index: Int.random(in: 0...count, using: &random))
          case 1: .delete(index: index)
          case 2: .move(from: index, to: other)
          default: .update(index: index)
          }
        changes.append(change)
        try reference.apply(change)
      }
      let expected = reference.places.enumerated().map { index, place in
        place.isTouched ? 1_000 + index : place.element ?? -1
      }
      try #require(old.applying(changes) { 1_000 + $0 } == expected, "\(changes)")
    }
  }

  @Test func `a list of something else follows`() {
    let new = [10, 20, 30]
    let change = CollectionChange.changes([.insert(index: 1), .update(index: 2)])
    #expect(["10", "29"].applying(change, from: new) { "<\($0)>" } == ["10", "<20>", "<30>"])
    #expect(["10", "29"].applying(.reset, from: new) { "<\($0)>" } == ["<10>", "<20>", "<30>"])
  }

  @Test(arguments: [
    CollectionChangeInformation.update(index: 2), .delete(index: 2), .insert(index: 3),
    .move(from: 0, to: 2), .move(from: 2, to: 0), .update(index: -1),
  ])
  func `a position that does not exist stops the process`(
    change: CollectionChangeInformation
  ) async {
    await #expect(processExitsWith: .failure) { [change] in
      _ = [1, 2].applying([change]) { $0 }
    }
  }
}
