/// All there is to know about a command before it runs; parser and help both read it.
struct CommandDeclaration: Sendable {
  /// A command line and what it does.
  struct Example: Sendable {
    let line: String
    let meaning: String

    init(_ line: String, _ meaning: String) {
      self.line = line
      self.meaning = meaning
    }
  }

  /// The word after `pando`.
  let name: String
  /// One line: what the command does.
  let summary: String
  /// The arguments known by their place, in order.
  let positionals: [Positional]
  /// The options; `--help` is added to each command.
  var options: [Option] = []
  /// Actions of a command that has several, each as the rest of a usage line after the name.
  var actions: [String] = []
  /// What one line cannot say, one paragraph each.
  var notes: [String] = []
  /// At least one command line that works.
  let examples: [Example]

  /// The number of arguments that must be there.
  var minimumCount: Int { positionals.count { $0.count == .one } }

  /// The number of arguments that may be there.
  var maximumCount: Int {
    positionals.contains { $0.count == .any } ? .max : positionals.count
  }

  /// The option of that name.
  func option(named name: String) -> Option? {
    options.first { $0.name == name }
  }
}
