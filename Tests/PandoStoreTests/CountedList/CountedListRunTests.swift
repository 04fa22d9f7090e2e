import Glibc
import PandoFixtures
import Testing

@testable import PandoStore

@Suite struct CountedListRunTests {
  typealias Run = CountedList.Run
  typealias Entry = CountedList.Entry
  typealias Limits = CountedList.Limits

  /// The lengths of the elements of a run.
  private func lengths(_ run: Run) -> [Int] {
    var (lengths, offset): ([Int], Int) = ([], 0)
    while let range = CountedList.elementRange(in: run.bytes.span, at: offset) {
      lengths.append(range.count)
      offset = range.upperBound
    }
    return lengths
  }

  @Test(
    arguments: [
      (0, [0x00]), (1, [0x01]), (127, [0x7F]), (128, [0x80, 0x01]), (300, [0xAC, 0x02]),
      (16_383, [0xFF, 0x7F]), (16_384, [0x80, 0x80, 0x01]),
    ] as [(Int, [UInt8])])
  func `the length before an element takes as few bytes as it can`(
    count: Int, length: [UInt8]
  ) throws {
    let element = [UInt8](repeating: 0xEE, count: count)
    let run = try Run(elements: [element])
    #expect(run.bytes == length + element)
    #expect(lengths(run) == [count])
  }

  @Test(
    arguments: [
      [], [0x01], [0x80], [0x80, 0x00], [0x81, 0x00, 0xEE], [0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], [0x80, 0x01, 0xEE],
    ] as [[UInt8]])
  func `bytes that are no element are not taken for one`(bytes: [UInt8]) {
    #expect(CountedList.elementRange(in: bytes.span, at: 0) == nil)
    #expect(!Run(level: 0, bytes: bytes, itemCount: 1, elementCount: 1).isConsistent)
  }

  @Test func `an entry needs a block and a count`() {
    var bytes: [UInt8] = []
    Entry(block: 0x0102_0304_0506_0708, elementCount: 9).append(to: &bytes)
    #expect(bytes == [8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0, 0, 0, 0, 0])
    #expect(Entry(in: bytes.span, at: 0) == Entry(block: 0x0102_0304_0506_0708, elementCount: 9))
    #expect(Entry(in: bytes.span, at: 1) == nil)
    #expect(Entry(in: bytes.span, at: -1) == nil)
    let (zeros, ones) = ([UInt8](repeating: 0, count: 8), [UInt8](repeating: 0xFF, count: 8))
    for bytes in [zeros + bytes[8...], bytes[..<8] + zeros, bytes[..<8] + ones] {
      #expect(Entry(in: bytes.span, at: 0) == nil)
    }
  }

  @Test func `counts that do not fit the bytes are noticed`() {
    let entries = [Entry(block: 1, elementCount: 5), Entry(block: 2, elementCount: 6)]
    let run = Run(level: 1, entries: entries)
    #expect(run.isConsistent)
    #expect(run.entries == entries)
    #expect(run.elementCount == 11)
    let other = { (items: Int, elements: Int) in
      Run(level: 1, bytes: run.bytes, itemCount: items, elementCount: elements)
    }
    #expect(!other(1, 11).isConsistent)
    #expect(!other(3, 11).isConsistent)
    #expect(!other(2, 12).isConsistent)
  }

  @Test(arguments: seeds(4))
  func `items are replaced as in an array`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var expected: [[UInt8]] = []
    var run = Run(level: 0)
    for _ in 0..<60 {
      let lower = Int.random(in: 0...expected.count, using: &random)
      let range = lower..<Int.random(in: lower...expected.count, using: &random)
      let new = (0..<Int.random(in: 0...8, using: &random)).map { _ in
        [UInt8](randomCount: 0...150, below: 255, using: &random)
      }
      try run.replaceItems(range, with: Run(elements: new))
      expected.replaceSubrange(range, with: new)
      let whole = try Run(elements: expected)
      let (prefix, suffix) = try (
        Run(elements: expected[..<lower]), Run(elements: expected[lower...])
      )
      try #require(run == whole, "seed \(seed)")
      try #require(run.isConsistent)
      try #require(run.prefix(lower) == prefix)
      try #require(run.suffix(from: lower) == suffix)
    }
  }

  @Test func `an element above the limit is refused`() throws {
    // Memory that is reserved and never touched: only the length counts.
    let byteCount = Limits.elementByteCountMax + 1
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    let memory = try #require(mmap(nil, byteCount, PROT_READ, flags, -1, 0))
    try #require(memory != MAP_FAILED)
    defer { munmap(memory, byteCount) }
    let element = UnsafeRawBufferPointer(start: memory, count: byteCount).bindMemory(to: UInt8.self)
    var run = Run(level: 0)
    #expect(throws: CountedListError.elementTooLarge(byteCount: byteCount)) {
      try run.append(element.span)
    }
    #expect(run.itemCount == 0)
  }
}
