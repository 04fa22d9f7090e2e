import PandoFixtures
import Testing

@testable import PandoStore

@Suite struct CountedListPackingTests {
  typealias Run = CountedList.Run
  typealias Limits = CountedList.Limits

  private func run(lengths: [Int]) throws -> Run {
    try Run(elements: lengths.map { [UInt8](repeating: 1, count: $0) })
  }

  @Test func `items that fit in a row are one piece`() throws {
    #expect(try run(lengths: []).pieces(.even).isEmpty)
    let full = try run(lengths: Array(repeating: 7, count: 240))
    #expect(full.bytes.count == Limits.payloadByteCountMax)
    for packing in [CountedList.Packing.even, .firstRowFull, .lastRowFull] {
      #expect(full.pieces(packing).map(\.itemCount) == [240])
    }
    #expect(try run(lengths: [1 << 20]).pieces(.even).map(\.itemCount) == [1])
  }

  @Test func `a row too many is cut in the middle or at the expected end`() throws {
    let run = try run(lengths: Array(repeating: 7, count: 241))
    #expect(run.pieces(.even).map(\.itemCount) == [121, 120])
    #expect(run.pieces(.firstRowFull).map(\.itemCount) == [240, 1])
    #expect(run.pieces(.lastRowFull).map(\.itemCount) == [1, 240])
  }

  @Test func `entries are cut like elements and keep their counts`() {
    let entries = (1...241).map { CountedList.Entry(block: UInt64($0), elementCount: $0) }
    let pieces = Run(level: 3, entries: entries).pieces(.even)
    #expect(pieces.map(\.itemCount) == [80, 81, 80])
    #expect(pieces.map(\.elementCount) == [3_240, 9_801, 16_120])
  }

  @Test(arguments: seeds(200))
  func `pieces fit in rows and no two neighbours are underfull`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let limit = [3, 20, 400, 1_000, 1_918, 1_919, 6_000].randomElement(using: &random) ?? 3
    let count = Int.random(in: 1...60_000 / limit + 1, using: &random)
    let run = try run(
      lengths: (0..<count).map { _ in
        Int.random(in: 0...(Bool.random(using: &random) ? limit : 10), using: &random)
      })
    for packing in [CountedList.Packing.even, .firstRowFull, .lastRowFull] {
      // Only a little more than a row is ever packed towards the beginning.
      if packing == .lastRowFull, run.bytes.count > 2 * Limits.payloadByteCountMax { continue }
      let pieces = run.pieces(packing)
      var offset = 0
      for piece in pieces {
        try #require(piece.bytes.lowerBound == offset)
        try #require(piece.itemCount > 0)
        try #require(piece.bytes.count <= Limits.payloadByteCountMax || piece.itemCount == 1)
        let part = Run(
          level: 0, bytes: Array(run.bytes[piece.bytes]), itemCount: piece.itemCount,
          elementCount: piece.elementCount)
        try #require(part.isConsistent)
        offset = piece.bytes.upperBound
      }
      #expect(offset == run.bytes.count)
      for (piece, next) in zip(pieces, pieces.dropFirst()) {
        #expect(!(piece.isUnderfull && next.isUnderfull), "seed \(seed), \(packing)")
      }
    }
  }
}
