import PandoFixtures
import PandoModels
import Testing

@Suite struct ChangeCountsTests {
  @Test func `each kind is counted, as often as it occurs`() {
    let changes: [CollectionChangeInformation] = [
      .insert(index: 0), .insert(index: 0), .insert(index: 2), .delete(index: 0),
      .move(from: 1, to: 0), .update(index: 0), .update(index: 0),
    ]
    #expect(changes.numberOfInsertedElements() == 3)
    #expect(changes.numberOfDeletedElements() == 1)
    #expect(changes.numberOfMovedElements() == 1)
    #expect(changes.numberOfUpdatedElements() == 2)
    #expect(changes.deltaNumberOfElements() == 2)
    #expect(changes[3...].deltaNumberOfElements() == -1)
  }

  @Test func `of no changes all counts are 0`() {
    let changes: [CollectionChangeInformation] = []
    #expect(changes.numberOfInsertedElements() == 0)
    #expect(changes.numberOfDeletedElements() == 0)
    #expect(changes.deltaNumberOfElements() == 0)
  }

  @Test(arguments: seeds(4))
  func `the count before and the delta are the count afterwards`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let old = (0..<Int.random(in: 0...8, using: &random)).shuffled(using: &random)
      let new = (0..<Int.random(in: 0...8, using: &random)).shuffled(using: &random)
      let change = CollectionChange.difference(
        from: old.map { ListItem(name: "\($0)") }, to: new.map { ListItem(name: "\($0)") })
      guard case .changes(let changes) = change else {
        Issue.record("a difference is no reset")
        continue
      }
      #expect(old.count + changes.deltaNumberOfElements() == new.count)
      #expect(changes.numberOfDeletedElements() == Set(old).subtracting(new).count)
    }
  }
}
