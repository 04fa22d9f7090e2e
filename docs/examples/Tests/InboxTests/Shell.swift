import Foundation
import PandoFixtures
import ServiceFixtures
import Testing

extension ServiceProcess {
  /// Starts `inbox --serve`, and waits until it has fetched everything.
  convenience init(directory: String, _ options: String...) async throws {
    try await self.init(
      "inbox", ["--serve", "--directory", directory] + options, until: "has fetched everything")
  }
}

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

/// Runs `body` with a service that is ended by SIGTERM afterwards, which it must do in order.
///
/// - Parameter body: Gets the service and the directory of its store.
/// - Throws: The error of `body`.
func withService(
  _ body: (ServiceProcess, String) async throws -> Void
) async throws {
  try await withTemporaryDirectory { directory in
    let service = try await ServiceProcess(directory: directory)
    do {
      try await body(service, directory)
    } catch {
      _ = await service.terminate()
      throw error
    }
    #expect(await service.terminate() == 0)
    #expect(service.log.hasSuffix("has closed its store in order\n"), "\(service.log)")
  }
}
