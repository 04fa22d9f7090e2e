import PandoSystem
import Synchronization

/// The whole command: it runs the command of the first word, and turns errors into one line on
/// standard error and an exit status.
struct CommandLineTool {
  /// All commands, in the order of the help.
  static let commands: [any Command.Type] = [
    ImportCommand.self, GetCommand.self, SetCommand.self, DeleteCommand.self,
    ParentsCommand.self, ListCommand.self, QueryCommand.self, IndexCommand.self,
    CollectionsCommand.self, CollectionCommand.self,
    ChangesCommand.self, WatchCommand.self, CursorsCommand.self, RetentionCommand.self,
    StatCommand.self, EstimateCommand.self, TopCommand.self, VerifyCommand.self, DumpCommand.self,
    LoadCommand.self, CopyCommand.self, KeyValueCommand.self, QueueCommand.self,
    ReplicaCommand.self, CompletionCommand.self, ManualCommand.self, DemoCommand.self,
  ]

  private let output = StandardOutput()

  init() {}

  /// Runs the command of the arguments.
  ///
  /// - Parameter arguments: The arguments after `pando` on the command line.
  /// - Returns: The exit status.
  func run(_ arguments: [String]) async -> ExitCode {
    // A closed pipe then becomes an error of `write`, and stores are closed in order.
    signal(SIGPIPE, SIG_IGN)
    // A limit on file sizes becomes an error of `write` too.
    signal(SIGXFSZ, SIG_IGN)
    guard let word = arguments.first else {
      report(CommandError(.usage, "a command is missing", remedy: "see: pando --help"), "pando")
      return .usage
    }
    let rest = Array(arguments.dropFirst())
    if ["--help", "-h", "help"].contains(word) { return help(on: rest.first) }
    if word == "--version" { return version() }
    guard let command = CommandLineTool.command(named: word) else { return noCommand(word) }
    return await run(command, rest)
  }

  private func noCommand(_ word: String) -> ExitCode {
    let error = CommandError(
      .usage, "“\(word)” is no command" + CommandLineTool.suggestion(for: word),
      remedy: "see: pando --help")
    report(error, "pando")
    return error.exitCode
  }

  private func run(_ command: any Command.Type, _ rest: [String]) async -> ExitCode {
    let declaration = command.declaration
    do {
      let arguments = try ArgumentParser(declaration: declaration).parse(rest)
      let assumesNoWriter = arguments.options[Option.assumingNoWriter.name] != nil
      StoreAccess.assumesNoWriter.store(assumesNoWriter, ordering: .relaxed)
      if arguments.wantsHelp {
        try output.write(HelpText.command(declaration))
      } else {
        try await command.run(arguments, output)
      }
      try output.flush()
      return .done
    } catch is StandardOutput.Closed {
      return .done  // the reader has seen what it wanted
    } catch {
      // The output before the failure is valid and stays.
      try? output.flush()
      let failure = CommandError(wrapping: error)
      report(failure, "pando \(declaration.name)")
      return failure.exitCode
    }
  }

  private func version() -> ExitCode {
    printing { try output.line("pando \(Version.text)") }
  }

  private func help(on word: String?) -> ExitCode {
    if let word, CommandLineTool.command(named: word) == nil { return noCommand(word) }
    return printing {
      let declarations = CommandLineTool.commands.map { $0.declaration }
      let declaration = declarations.first { $0.name == word }
      try output.write(
        declaration.map(HelpText.command) ?? HelpText.overview(declarations))
    }
  }

  private func printing(_ body: () throws -> Void) -> ExitCode {
    do {
      try body()
      try output.flush()
    } catch is StandardOutput.Closed {
      return .done
    } catch {
      report(CommandError(wrapping: error), "pando")
      return .failure
    }
    return .done
  }

  private func report(_ error: CommandError, _ subject: String) {
    StandardError.line(error.line(for: subject))
  }

  private static func command(named word: String) -> (any Command.Type)? {
    commands.first { $0.declaration.name == word }
  }

  private static func suggestion(for word: String) -> String {
    let near = commands.map { $0.declaration.name }
      .filter { $0.editDistance(to: word) <= 2 || (word.count > 1 && $0.hasPrefix(word)) }
      .min { $0.editDistance(to: word) < $1.editDistance(to: word) }
    return near.map { " (did you mean “\($0)”?)" } ?? ""
  }
}
