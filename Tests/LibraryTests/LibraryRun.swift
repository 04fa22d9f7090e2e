import Foundation

/// A run of the program `library` to its end.
struct LibraryRun {
  let status: Int32
  let output: String
  let errors: String

  /// The lines of the output that are not empty.
  var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// Runs the program, which lies beside the tests, away from the threads of tasks.
  ///
  /// - Parameters:
  ///   - arguments: Its arguments.
  ///   - environment: What is different in its environment.
  /// - Throws: What keeps it from being run.
  init(_ arguments: [String], environment: [String: String] = [:]) async throws {
    self = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try Self.run(arguments, environment) })
      }
    }
  }

  private init(_ status: Int32, _ output: Data, _ errors: Data) {
    self.status = status
    self.output = String(decoding: output, as: UTF8.self)
    self.errors = String(decoding: errors, as: UTF8.self)
  }

  private static func run(
    _ arguments: [String], _ environment: [String: String]
  ) throws -> LibraryRun {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("library-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    // Files instead of pipes: nothing blocks, however much is printed.
    let files = ["output", "errors"].map { directory.appendingPathComponent($0) }
    for file in files { try Data().write(to: file) }
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let process = Process()
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("library")
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    let status =
      process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    return LibraryRun(status, try Data(contentsOf: files[0]), try Data(contentsOf: files[1]))
  }
}
