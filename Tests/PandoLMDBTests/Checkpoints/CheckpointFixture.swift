import CPandoLMDB
import Glibc
import PandoFixtures
import Testing

@testable import PandoLMDB

/// An environment with checkpoints, and what a disk can have of it when the power fails.
///
/// All rows are of one round, so half a version shows.
struct CheckpointFixture {
  static let rowCount: UInt32 = 120

  let path: String
  let environment: Environment
  let table: Table<UInt32, [UInt8]>

  /// - Parameters:
  ///   - path: An empty folder.
  ///   - interval: By default none in which a checkpoint would come by itself.
  /// - Throws: What keeps it from opening.
  init(_ path: String, interval: Duration = .seconds(60)) throws {
    self.path = path
    environment = try Environment(path: path, configuration: Self.configuration(interval))
    table = try environment.table("rows", keys: .uint32, values: .bytes)
  }

  static func configuration(_ interval: Duration? = .seconds(60)) -> Environment.Configuration {
    var configuration = Environment.Configuration.forTests
    if let interval { configuration.durability = .relaxed(every: interval) }
    return configuration
  }

  /// A commit that writes all rows.
  func write(_ round: UInt8) throws {
    try environment.write { transaction in
      for key in 0..<Self.rowCount {
        try transaction.put([UInt8](repeating: round, count: 500), forKey: key, in: table)
      }
    }
  }

  var newestSlot: CheckpointSlot? {
    let file = try? CheckpointFile.open(folder: path, makes: false, isReadOnly: true, mode: 0o600)
    return file?.newest()
  }

  /// The bytes of the data file, as the system has them.
  var data: [UInt8] { get throws { try DamagedFileTests.read("\(path)/data.mdb") } }

  /// The round that all rows of a folder's environment are of; none of them differs, and its pages are sound.
  static func round(in path: String, _ configuration: Environment.Configuration) throws -> UInt8 {
    let environment = try Environment(path: path, configuration: configuration)
    defer { environment.close() }
    try PageWalker(path: path).verify()
    let table = try environment.table("rows", keys: .uint32, values: .bytes, create: false)
    return try environment.read { snapshot in
      let rows = try (0..<rowCount).map { try snapshot.value(forKey: $0, in: table) ?? [] }
      let round = rows[0].first ?? 0
      guard rows.allSatisfy({ $0 == [UInt8](repeating: round, count: 500) }) else {
        throw NoVersion()
      }
      return round
    }
  }

  /// The rows are of several rounds.
  struct NoVersion: Error {}
}

extension CheckpointFixture {
  /// Makes a folder as the disk of another boot may have it: of each sector of 512 bytes that was written
  /// since a flush, the content before or the one after.
  func cut(
    to target: String, durable: [UInt8], latest: [UInt8], seed: UInt64, keepsSlots: Bool = true
  ) throws {
    var random = SeededGenerator(seed: seed)
    var bytes = durable
    if seed == 1 || Bool.random(using: &random) {
      bytes += latest[min(bytes.count, latest.count)...]
    }
    for start in stride(from: 0, to: bytes.count, by: 512) where start < latest.count {
      // None, all, or some of them.
      guard seed == 1 || seed > 1 && Bool.random(using: &random) else { continue }
      bytes.replaceSubrange(start..<start + 512, with: latest[start..<start + 512])
    }
    mkdir(target, 0o700)
    try DamagedFileTests.write(bytes, to: "\(target)/data.mdb")
    guard keepsSlots else { return }
    try DamagedFileTests.write(
      try DamagedFileTests.read("\(path)/checkpoint.mdb"), to: "\(target)/checkpoint.mdb")
    try Self.startAnew(target)
  }

  /// Has the slots of a folder be of another boot.
  static func startAnew(_ path: String) throws {
    let file = try #require(try CheckpointFile.open(folder: path, makes: false, mode: 0))
    var slot = try #require(file.newest())
    slot.boot = BootIdentifier(low: 1, high: 2)
    try file.write(slot, after: slot)
  }
}
