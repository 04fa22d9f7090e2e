import PandoFixtures

/// The built program `library`.
enum Library {
  /// Runs it to its end.
  ///
  /// - Parameters:
  ///   - arguments: Its arguments.
  ///   - environment: What is different in its environment.
  /// - Returns: What it printed and how it ended.
  /// - Throws: What keeps it from being run.
  static func run(
    _ arguments: [String] = [], environment: [String: String] = [:]
  ) async throws -> ChildProcess.Run {
    try await blocking {
      try ChildProcess.run("library", arguments, environment: environment)
    }
  }
}
