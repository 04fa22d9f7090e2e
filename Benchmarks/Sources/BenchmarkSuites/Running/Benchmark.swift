import Foundation

/// The whole command.
public enum Benchmark {
  /// Runs what the arguments ask for and prints a report.
  ///
  /// - Parameter arguments: The arguments, without the name of the program.
  /// - Returns: The exit code: 0 done, 1 results differ, 2 wrong usage, 4 a system failed.
  public static func run(arguments: [String]) -> Int32 {
    do {
      if arguments.first == Worker.option {
        try Worker.run(Array(arguments.dropFirst()))
        return 0
      }
      let options = try BenchmarkOptions(arguments: arguments)
      if options.showsHelp {
        print(BenchmarkOptions.usage, terminator: "")
      } else {
        try run(options)
      }
      return 0
    } catch {
      FileHandle.standardError.write(Data("pando-bench: \(error)\n".utf8))
      return exitCode(of: error)
    }
  }

  /// Runs the suites, prints the table, and writes the JSON file.
  static func run(_ options: BenchmarkOptions) throws {
    let host = HostDescription(directory: options.directory)
    let text = TextReport()
    show(text.head(options, host))
    let runner = try Runner(options) { show(text.lines($0)) }
    try runner.run()
    show(text.summary(runner.ratios))
    show(text.durations(runner.durations))
    if let path = options.jsonPath {
      let report = JSONReport(
        options: options, host: host, results: runner.results, ratios: runner.ratios)
      try report.encoded().write(to: URL(fileURLWithPath: path), options: .atomic)
    }
    if let path = options.htmlPath {
      let page = HTMLReport(
        options: options, host: host, results: runner.results, ratios: runner.ratios)
      try Data(page.text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
  }

  /// Prints at once, also into a pipe.
  private static func show(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }

  private static func exitCode(of error: any Error) -> Int32 {
    switch (error as? BenchmarkError)?.kind {
    case .wrongResult: 1
    case .usage: 2
    case .system, nil: 4
    }
  }
}
