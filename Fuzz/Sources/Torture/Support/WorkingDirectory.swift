import Foundation
import Glibc

/// A directory of a run, in memory where the machine offers that.
///
/// A run that fails leaves it, so that what was found can be looked at.
struct WorkingDirectory {
  let path: String

  /// Makes a directory.
  ///
  /// - Parameters:
  ///   - name: The name of the run.
  ///   - isInMemory: Whether a memory file system will do. Files of a killed process may lie there: the page
  ///     cache outlives a process either way.
  /// - Throws: The error of the system.
  init(_ name: String, isInMemory: Bool = true) throws {
    let parent = isInMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()
    path = "\(parent)/torture-\(name)-\(getpid())"
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  /// Runs `body`, and removes the directory unless that fails.
  func use<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      let result = try body()
      Self.remove(path)
      return result
    } catch {
      throw TortureFailure("\(error)\nfiles are left in \(path)")
    }
  }

  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
