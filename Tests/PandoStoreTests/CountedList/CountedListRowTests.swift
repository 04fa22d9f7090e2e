import PandoFixtures
import Testing

@testable import PandoStore

@Suite struct CountedListRowTests {
  private func bytes(of run: CountedList.Run, block: UInt64, nextBlock: UInt64) throws -> [UInt8] {
    let piece = try #require(run.pieces(.even).first)
    return CountedList.Row.bytes(of: piece, in: run, list: 5, block: block, nextBlock: nextBlock)
  }

  @Test func `a row has the bytes that are drawn where it is encoded`() throws {
    let run = try CountedList.Run(elements: [[0xAA], [], [0xBB, 0xCC]])
    let bytes = try bytes(of: run, block: 0, nextBlock: 0x0102)
    let expected: [UInt8] = [
      3, 0, 0, 0, 0, 0, 0, 0,
      2, 1, 0, 0, 0, 0, 0, 0,
      3, 0, 0, 1,
      1, 0xAA, 0, 2, 0xBB, 0xCC,
    ]
    #expect(Array(bytes[8...]) == expected)
    // The checksum is part of the form on disk: it must not change from version to version.
    #expect(Array(bytes[..<8]) == [103, 174, 88, 188, 88, 30, 132, 132])
  }

  @Test func `a row is read as it was written`() throws {
    let entries = [
      CountedList.Entry(block: 1, elementCount: 200), .init(block: 9, elementCount: 1),
    ]
    let run = CountedList.Run(level: 2, entries: entries)
    let bytes = try bytes(of: run, block: 3, nextBlock: 0)
    let row = try CountedList.Row(bytes.span, list: 5, block: 3)
    #expect((row.level, row.itemCount, row.elementCount) == (2, 2, 201))
    #expect(try row.run() == run)
    let child = try row.child(at: 200)
    #expect((child.index, child.entry, child.start) == (1, entries[1], 200))
    #expect(throws: CountedListError.self) { _ = try row.child(at: 201) }
  }

  @Test(arguments: 0...70)
  func `a checksum depends on every byte, the length, the list and the block`(count: Int) {
    let bytes = (0..<count).map { UInt8($0) }
    let sum = CountedList.checksum(of: bytes.span, list: 1, block: 2)
    var sums: Set<UInt64> = [
      sum, CountedList.checksum(of: bytes.span, list: 2, block: 1),
      CountedList.checksum(of: bytes.span, list: 1, block: 3),
      CountedList.checksum(of: (bytes + [0]).span, list: 1, block: 2),
    ]
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << UInt8(bit)
        sums.insert(CountedList.checksum(of: changed.span, list: 1, block: 2))
      }
    }
    #expect(sums.count == 4 + 8 * count)
  }
}
