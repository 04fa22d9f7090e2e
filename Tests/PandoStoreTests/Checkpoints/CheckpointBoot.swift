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

  /// Copies a folder as it is now, as that of another boot.
  static func copyCut(_ path: String, to target: String) throws {
    mkdir(target, 0o700)
    for name in ["data.mdb", "checkpoint.mdb"] {
      let source = try #require(fopen("\(path)/\(name)", "r"))
      let copy = try #require(fopen("\(target)/\(name)", "w"))
      var buffer = [UInt8](repeating: 0, count: 1 << 20)
      while case let count = fread(&buffer, 1, buffer.count, source), count > 0 {
        #expect(fwrite(buffer, 1, count, copy) == count)
      }
      fclose(source)
      fclose(copy)
    }
    try change(target)
  }

  /// The transaction whose meta page the newest slot has.
  static func version(_ path: String) throws -> UInt64 {
    let file = try CheckpointFile.open(folder: path, makes: false, isReadOnly: true, mode: 0)
    return try #require(file?.newest()).version
  }
}
