import Foundation

/// A directory with a name of its own, removed with everything in it at the end.
final class WorkingDirectory: Sendable {
  let path: String

  /// Makes the directory.
  init(in parent: String) throws {
    path = parent + "/pando-bench-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    // Files that can't be removed stay; the owner of the parent removes them.
    try? FileManager.default.removeItem(atPath: path)
  }
}
