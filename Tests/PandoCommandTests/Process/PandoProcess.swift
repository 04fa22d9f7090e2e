import PandoFixtures
import Testing

/// The built `pando` command, run as a process.
enum PandoProcess {
  typealias Outcome = ChildProcess.Run

  /// The command lies beside the tests.
  static let path = "\(ChildProcess.productFolder)/pando"

  /// Runs the command and waits for its end.
  ///
  /// - Parameters:
  ///   - arguments: What follows `pando`.
  ///   - input: What it reads from standard input.
  /// - Returns: What it printed and how it ended.
  /// - Throws: When it cannot be started.
  static func run(_ arguments: [String], input: String = "") throws -> Outcome {
    try ChildProcess.run("pando", arguments, input: input)
  }

  /// Runs the command and waits for its end.
  static func run(_ arguments: String..., input: String = "") throws -> Outcome {
    try run(arguments, input: input)
  }

  /// Runs a line of shell in which `pando` is the command.
  static func shell(_ line: String) throws -> Outcome {
    let script = "pando() { '\(path)' \"$@\"; }; \(line)"
    return try ChildProcess.run("/bin/bash", ["-c", script])
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
}
