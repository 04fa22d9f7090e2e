import Foundation
import PandoFixtures
import PandoLMDB
import Testing

/// Random damage: the walker must end, and what it calls clean liblmdb must be able to read.
@Suite struct PageFuzzTests {
  /// How many damaged copies each seed makes; the environment variable is for longer runs.
  static let roundCount =
    ProcessInfo.processInfo.environment["PANDO_PAGE_ROUNDS"].flatMap { Int($0) } ?? 40

  @Test(arguments: seeds(4))
  func `a damaged file never stops the walker, and a clean verdict holds`(seed: UInt64) throws {
    try withTemporaryDirectory { path in
      let original = try makeFile(in: path, seed: seed)
      let copy = path + "/copy"
      try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
      var random = SeededGenerator(seed: seed ^ 0xDA4A6E)
      for round in 0..<Self.roundCount {
        var damaged = original
        let what = damaged.damage(&random)
        try damaged.write(to: copy)
        let walker = try PageWalker(path: copy)
        let report = try walker.check(problemLimit: round % 2 == 0 ? 1 : 50)
        for table in report.tables {
          // Damage is thrown; it only must not stop the process.
          var byteCountMax = 0
          try? walker.forEachEntry(inTable: table.name) { key, value in
            byteCountMax = max(byteCountMax, key.count, value.count)
          }
          try #require(byteCountMax <= damaged.bytes.count)
        }
        guard report.isClean else { continue }
        let outcome = try ChildProcess.run("PandoLMDBReadAll", [copy])
        try #require(
          outcome.status == 0, "seed \(seed), round \(round), \(what): \(outcome)")
      }
    }
  }

  private func makeFile(in path: String, seed: UInt64) throws -> PageImage {
    var workload = [PageWorkload.small, .mainOnly, .keys][Int(seed % 3)]
    workload.transactions = 4
    let environment = try PageFixture(path: path, mapSizeInBytes: 1 << 26)
    try workload.fill(environment, seed: seed)
    let outcome = try ChildProcess.run("PandoLMDBReadAll", [path])
    try #require(outcome.status == 0, "\(outcome)")
    return try PageImage(path: path)
  }
}

extension PageImage {
  /// Damages something and says what.
  mutating func damage(_ random: inout SeededGenerator) -> String {
    let page = Int.random(in: 0..<pageCount, using: &random) * pageSize
    let anywhere = Int.random(in: bytes.indices, using: &random)
    switch Int.random(in: 0..<13, using: &random) {
    case 0:
      bytes[anywhere] = UInt8.random(in: 0...255, using: &random)
      return "byte \(anywhere)"
    case 1:
      let offset = page + Int.random(in: 0..<64, using: &random)
      bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      return "bit of byte \(offset), in a header"
    case 2, 3:
      let offset =
        Int.random(in: 0..<2, using: &random) * pageSize
        + Int.random(in: 0..<152, using: &random)
      bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      return "bit of byte \(offset), in a meta page"
    case 4, 5:
      return damageNode(page / pageSize, &random)
    case 6:
      let count = Int.random(in: 2...64, using: &random)
      for offset in anywhere..<min(anywhere + count, bytes.count) {
        bytes[offset] = UInt8.random(in: 0...255, using: &random)
      }
      return "\(count) bytes at \(anywhere)"
    case 7:
      let other = Int.random(in: 0..<pageCount, using: &random) * pageSize
      for offset in 0..<pageSize { bytes.swapAt(page + offset, other + offset) }
      return "pages at \(page) and \(other) swapped"
    case 8:
      let other = Int.random(in: 0..<pageCount, using: &random) * pageSize
      for offset in 0..<pageSize { bytes[page + offset] = bytes[other + offset] }
      set(UInt64(page / pageSize), at: page)
      return "page at \(other) copied to \(page)"
    case 9:
      bytes.removeLast(bytes.count - anywhere)
      return "cut at \(anywhere)"
    case 10:
      let value = [UInt64(0), .max, 2, UInt64(pageCount), 1 << 32, 1 << 63].randomElement(
        using: &random)
      let offset = anywhere & ~7
      set(value ?? 0, at: offset)
      return "number at \(offset)"
    case 11:
      let fill: UInt8 = Bool.random(using: &random) ? 0 : 0xff
      for offset in page..<page + pageSize { bytes[offset] = fill }
      return "page at \(page) filled with \(fill)"
    default:
      bytes += random.pageBytes(Int.random(in: 1...9000, using: &random))
      return "bytes at the end"
    }
  }

  /// Damages a node's offset or header, where a page has one.
  private mutating func damageNode(_ page: Int, _ random: inout SeededGenerator) -> String {
    let count = nodeCount(page)
    guard (1...1000).contains(count) else { return "nothing" }
    let index = Int.random(in: 0..<count, using: &random)
    var offset = pointer(page, index) + Int.random(in: 0..<2, using: &random)
    let start = node(page, index)
    if Bool.random(using: &random), start + 56 < bytes.count {
      offset = start + Int.random(in: 0..<56, using: &random)
    }
    bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    return "bit of byte \(offset), near node \(index) of page \(page)"
  }
}
