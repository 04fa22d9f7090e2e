import FoundationEssentials

/// A directory for one temporary store.
struct TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("pando-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    path = directory.path
  }

  /// Removes the directory; what can't be removed is left to the system's cleaning of such places.
  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
