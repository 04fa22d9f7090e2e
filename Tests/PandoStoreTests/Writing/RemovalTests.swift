import PandoModels
import PandoStore
import Testing

@Suite(.overBothBackings) struct RemovalTests {
  private func place(_ number: Int) -> UInt64 { SequenceNumber.of(commit: UInt64(number)) }

  @Test func `removals beyond the limit are forgotten, oldest first, and count as late then`()
    throws
  {
    let store = try ModelStore.forTest()
    let count = Int(Tombstones.countMaximum) + 1
    try store.write { transaction in
      for number in 1...count {
        let mark = SequenceRow(
          .tombstone, sequenceNumber: SequenceNumber.of(commit: UInt64(number)))
        try transaction.setSequenceRow(mark, of: "Book:\(number)")
      }
    }
    let places = try store.read { snapshot in
      try [1, count / 2, count - 1, count, count + 1].map { number in
        try snapshot.sequenceState(of: "Book:\(number)").sequenceNumber
      }
    }
    let forgotten = place(count - Int(Tombstones.countMaximum) / 2)
    #expect(places == [forgotten, forgotten, place(count - 1), place(count), forgotten])
    store.close()
  }

  @Test func `a node that is removed again and again is remembered once`() throws {
    let store = try ModelStore.forTest()
    let count = Int(Tombstones.countMaximum) + 1
    try store.write { transaction in
      for number in 1...count {
        let mark = SequenceRow(
          .tombstone, sequenceNumber: SequenceNumber.of(commit: UInt64(number)))
        try transaction.setSequenceRow(mark, of: "Book:1")
      }
    }
    let states = try store.read { snapshot in
      (try snapshot.sequenceState(of: "Book:1"), try snapshot.sequenceState(of: "Book:2"))
    }
    #expect(states.0.sequenceNumber == place(count))
    #expect(states.1.sequenceNumber == 0)
    store.close()
  }
}
