import Foundation
import PandoFixtures

/// A shell in which `inbox` is the service.
enum Shell {
  /// The service lies beside the tests.
  static let inboxPath = "\(ChildProcess.productFolder)/inbox"

  /// Whether there is a curl; the tests with it are left out where there is none.
  static let hasCurl = FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")

  /// Runs a line to its end.
  static func run(_ line: String) async throws -> ChildProcess.Run {
    try await blocking {
      try ChildProcess.run("/bin/bash", ["-c", "inbox() { '\(inboxPath)' \"$@\"; }; \(line)"])
    }
  }
}
