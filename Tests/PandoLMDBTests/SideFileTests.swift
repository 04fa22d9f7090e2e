import Foundation
import Glibc
import PandoFixtures
import PandoLMDB
import Testing

/// Files beside the data file belong to those to whom that belongs.
@Suite struct SideFileTests {
  private static let isRoot = geteuid() == 0

  /// Opens and closes an environment.
  private func open(
    _ path: String, _ durability: Durability = .unsynchronized, isReadOnly: Bool = false
  ) throws {
    var configuration = Environment.Configuration.forTests
    configuration.durability = durability
    configuration.isReadOnly = isReadOnly
    try Environment(path: path, configuration: configuration).close()
  }

  private func number(_ key: FileAttributeKey, of path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[key] as? NSNumber).intValue
  }

  @Test(
    arguments: [(0o600, 0o600), (0o660, 0o660), (0o644, 0o644), (0o444, 0o644)]
      as [(mode_t, mode_t)])
  func `a new lock file has the permissions of the data file`(data: mode_t, lock: mode_t) throws {
    try withTemporaryDirectory { path in
      try open(path)
      chmod("\(path)/data.mdb", data)
      unlink("\(path)/lock.mdb")
      try open(path, isReadOnly: true)
      #expect(try number(.posixPermissions, of: "\(path)/lock.mdb") == Int(lock))
    }
  }

  /// Was: they belonged to root, and the owner of the data file could not open them.
  @Test(.enabled(if: isRoot, "only root gives files away"))
  func `files that root makes beside a data file belong to its owner`() throws {
    try withTemporaryDirectory { path in
      try open(path)
      chmod("\(path)/data.mdb", 0o640)
      #expect(chown("\(path)/data.mdb", 12_345, 23_456) == 0)
      unlink("\(path)/lock.mdb")
      try open(path, isReadOnly: true)
      try open(path, .relaxed(every: .seconds(1)))
      for name in ["lock.mdb", "checkpoint.mdb"] {
        let file = "\(path)/\(name)"
        #expect(try number(.ownerAccountID, of: file) == 12_345, "\(name)")
        #expect(try number(.groupOwnerAccountID, of: file) == 23_456, "\(name)")
        #expect(try number(.posixPermissions, of: file) == 0o640, "\(name)")
      }
    }
  }

  @Test(.enabled(if: isRoot, "only root gives files away"))
  func `a lock file that is there keeps its owner`() throws {
    try withTemporaryDirectory { path in
      try open(path)
      #expect(chown("\(path)/data.mdb", 12_345, 23_456) == 0)
      try open(path, isReadOnly: true)
      #expect(try number(.ownerAccountID, of: "\(path)/lock.mdb") == 0)
    }
  }
}
