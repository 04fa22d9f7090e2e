import Foundation
import Testing

/// The built `pando` command, run as a process.
enum PandoProcess {
  /// What a run printed, and how it ended.
  struct Outcome {
    let status: Int32
    let output: String
    let errors: String

    /// The lines of the output.
    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  /// The command lies beside the test bundle, in the build directory.
  static let path: String = {
    let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return bundle.deletingLastPathComponent().appendingPathComponent("pando").path
  }()

  /// Runs the command and waits for its end.
  ///
  /// - Parameters:
  ///   - arguments: What follows `pando`.
  ///   - input: What it reads from standard input.
  /// - Returns: What it printed and how it ended.
  /// - Throws: When it cannot be started.
  static func run(_ arguments: [String], input: String = "") throws -> Outcome {
    try run(executable: path, arguments, input: input)
  }

  /// Runs the command and waits for its end.
  static func run(_ arguments: String..., input: String = "") throws -> Outcome {
    try run(arguments, input: input)
  }

  /// Runs a line of shell in which `pando` is the command.
  static func shell(_ line: String) throws -> Outcome {
    let script = "pando() { '\(path)' \"$@\"; }; \(line)"
    return try run(executable: "/bin/bash", ["-c", script], input: "")
  }

  /// Runs the command, which must succeed and print no error.
  ///
  /// - Returns: What it printed.
  @discardableResult
  static func output(
    _ arguments: String..., input: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    let outcome = try run(arguments, input: input)
    try #require(
      outcome.status == 0 && outcome.errors.isEmpty,
      "pando \(arguments) ended with \(outcome.status): \(outcome.errors)",
      sourceLocation: sourceLocation)
    return outcome.output
  }

  /// Runs the command, which must fail with one line on standard error and nothing on standard
  /// output.
  ///
  /// - Returns: The line.
  @discardableResult
  static func failure(
    _ status: Int32, _ arguments: String..., input: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    let outcome = try run(arguments, input: input)
    #expect(outcome.status == status, "\(outcome)", sourceLocation: sourceLocation)
    #expect(outcome.output.isEmpty, "\(outcome)", sourceLocation: sourceLocation)
    #expect(
      outcome.errors.hasSuffix("\n") && outcome.errors.count { $0 == "\n" } == 1,
      "not one line: \(outcome.errors)", sourceLocation: sourceLocation)
    return String(outcome.errors.dropLast())
  }

  private static func run(
    executable: String, _ arguments: [String], input: String
  ) throws -> Outcome {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("pando-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    // Files instead of pipes: nothing blocks, however much is printed.
    let files = ["input", "output", "errors"].map { directory.appendingPathComponent($0) }
    try Data(input.utf8).write(to: files[0])
    for file in files.dropFirst() { try Data().write(to: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = arguments
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
    try process.run()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationReason == .exit
        ? process.terminationStatus : -process.terminationStatus,
      output: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
  }
}
