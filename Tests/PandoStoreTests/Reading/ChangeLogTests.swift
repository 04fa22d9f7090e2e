import Foundation
import PandoModels
import PandoRecords
import Testing

@testable import PandoStore

@Suite struct ChangeLogTests {
  @Test(arguments: [
    ChangeSet(
      commitNumber: CommitNumber(value: 1), date: Date(timeIntervalSinceReferenceDate: 0.5)),
    ChangeSet(
      commitNumber: CommitNumber(value: .max), updated: ["a", String(repeating: "b", count: 300)],
      inserted: (0..<100).map(String.init), deleted: [""],
      collections: [
        CollectionUpdate(cacheKey: "x", change: .reset),
        CollectionUpdate(
          cacheKey: "yy", change: .changes([.insert(index: 3), .move(from: 1, to: 70_000)])),
        CollectionUpdate(
          cacheKey: "", change: .changes([.update(index: 0), .delete(index: 1 << 40)])),
        CollectionUpdate(cacheKey: "none", change: .changes([])),
      ], author: "me", date: Date(timeIntervalSinceReferenceDate: -7)),
  ])
  func `a change set is written as its own coding would`(changeSet: ChangeSet) throws {
    let bytes = ChangeLog.encode(changeSet)
    #expect(try bytes == RecordEncoder.encodeValue(changeSet).body)
    let copy = try ChangeLog.decode(bytes.span, number: changeSet.commitNumber)
    #expect(copy.commitNumber == changeSet.commitNumber)
    #expect(copy.inserted == changeSet.inserted)
    #expect(copy.collections == changeSet.collections)
    for wants in [true, false] {
      let part = try ChangeLog.decode(bytes.span, number: changeSet.commitNumber) { _ in wants
      }
      #expect(ChangeLog.encode(part.with(changeSet.collections)) == bytes)
      #expect(
        part.collections
          == changeSet.collections.map {
            wants ? $0 : CollectionUpdate(cacheKey: $0.cacheKey, change: .reset)
          })
    }
  }
}

extension ChangeSet {
  /// The same with other lists.
  fileprivate func with(_ collections: [CollectionUpdate]) -> ChangeSet {
    ChangeSet(
      commitNumber: commitNumber, updated: updated, inserted: inserted, deleted: deleted,
      collections: collections, author: author, date: date)
  }
}
