import Glibc
import PandoFixtures
import Testing

@testable import PandoLMDB

/// The slots of a closed folder, or of a copy of an open one.
enum CheckpointBoot {
  /// Has the newest slot be of another boot.
  static func change(_ path: String) throws {
    let file = try #require(try CheckpointFile.open(folder: path, makes: false, mode: 0))
    var slot = try #require(file.newest())
    slot.boot = BootIdentifier(low: 1, high: 2)
    try file.write(slot, after: slot)
  }

  /// The transaction whose meta page the newest slot has.
  static func version(_ path: String) throws -> UInt64 {
    let file = try CheckpointFile.open(folder: path, makes: false, isReadOnly: true, mode: 0)
    return try #require(file?.newest()).version
  }
}
