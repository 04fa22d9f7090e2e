import CPandoAllocations
import PandoFixtures
import PandoLMDB
import Testing

@testable import PandoStore

@Suite struct CountedListAllocationTests {
  /// How many allocations `body` makes on this thread.
  private func count(_ body: () throws -> Void) rethrows -> Int {
    let before = allocations_on_this_thread()
    try body()
    return Int(allocations_on_this_thread() - before)
  }

  @Test(.enabled(if: allocations_are_counted() == 1, "a sanitizer has an allocator of its own"))
  func `reading allocates nothing`() throws {
    try withList { list, transaction in
      try list.append(contentsOf: smallElements(0..<30_000), in: &transaction)
      let snapshot = transaction.snapshot
      var sum = 0
      let allocationCount = try count {
        sum += try list.count(in: snapshot)
        let element = try list.element(at: 20_000, in: snapshot)
        sum += element.count
        try list.forEach(in: 10..<29_000, of: snapshot) { _, bytes in
          sum += bytes.count
          return true
        }
      }
      #expect(sum > 30_000)
      #expect(allocationCount == 0)
    }
  }
}
