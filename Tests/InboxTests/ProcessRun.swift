import Foundation
import Testing

/// A process that has run to its end.
struct ProcessRun {
  let status: Int32
  let output: String
  let errors: String

  /// The lines of the output.
  var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// The built `inbox` lies beside the test bundle, in the build directory.
  static let inboxPath: String = {
    let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return bundle.deletingLastPathComponent().appendingPathComponent("inbox").path
  }()

  /// Whether there is a curl; the tests with it are left out where there is none.
  static let hasCurl = FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")

  /// Runs a line of shell in which `inbox` is the service.
  static func shell(_ line: String) async throws -> ProcessRun {
    try await blocking { try run(line) }
  }

  private static func run(_ line: String) throws -> ProcessRun {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("inbox-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    // Files instead of pipes: nothing blocks, however much is printed.
    let files = ["output", "errors"].map { directory.appendingPathComponent($0) }
    for file in files { try Data().write(to: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", "inbox() { '\(inboxPath)' \"$@\"; }; \(line)"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    return ProcessRun(
      status: process.terminationReason == .exit
        ? process.terminationStatus : -process.terminationStatus,
      output: String(decoding: try Data(contentsOf: files[0]), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self))
  }
}
