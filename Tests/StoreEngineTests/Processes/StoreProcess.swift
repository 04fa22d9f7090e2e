import Foundation
import Synchronization

/// A running `StoreTestProcess`.
final class StoreProcess {
  private let process = Process()
  private let output = Pipe()
  private var rest = ""

  /// One at a time, so that no other process inherits the writing end of a pipe.
  private static let starting = Mutex(())

  /// Starts a scenario.
  init(_ scenario: String, _ folder: String) throws {
    let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.executableURL = program.deletingLastPathComponent()
      .appending(path: "StoreTestProcess")
    process.arguments = [scenario, folder]
    process.standardOutput = output
    try Self.starting.withLock { _ in try process.run() }
  }

  /// Waits for the next line it prints; `nil` when it has ended.
  func nextLine() -> String? {
    while true {
      if let end = rest.firstIndex(of: "\n") {
        defer { rest = String(rest[rest.index(after: end)...]) }
        return String(rest[..<end])
      }
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { return nil }
      rest += String(decoding: data, as: UTF8.self)
    }
  }

  var isRunning: Bool { process.isRunning }

  /// Waits for its end.
  ///
  /// - Returns: 0 if every expectation of the scenario was met.
  func wait() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }
}
