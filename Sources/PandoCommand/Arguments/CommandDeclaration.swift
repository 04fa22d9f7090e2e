/// The description of a command, which parser and help read.
struct CommandDeclaration: Sendable {
  /// A command line and its effect.
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
  /// One line about the command.
  let summary: String
  /// The positional arguments, in order.
  let positionals: [Positional]
  /// The options; each command also has `--help`.
  var options: [Option] = []
  /// The actions of a command, each as the rest of a usage line after the name.
  var actions: [String] = []
  /// Further explanations, one paragraph each.
  var notes: [String] = []
  /// At least one command line that works.
  let examples: [Example]

  /// The minimum number of arguments.
  var minimumCount: Int { positionals.count { $0.count == .one } }

  /// The maximum number of arguments.
  var maximumCount: Int {
    positionals.contains { $0.count == .any } ? .max : positionals.count
  }

  /// The option of that name.
  func option(named name: String) -> Option? {
    options.first { $0.name == name }
  }
}

/// A positional argument.
struct Positional: Sendable, Hashable {
  /// How often an argument occurs.
  enum Count: Sendable, Hashable {
    case one
    case optional
    case any
  }

  /// The name that usage and errors show, for example `STORE`.
  let name: String
  /// How often the argument occurs.
  let count: Count
  /// One line of help.
  let help: String

  init(_ name: String, count: Count = .one, _ help: String) {
    self.name = name
    self.count = count
    self.help = help
  }

  /// The argument in the usage line.
  var usage: String {
    switch count {
    case .one: name
    case .optional: "[\(name)]"
    case .any: "[\(name)…]"
    }
  }

  /// The store's directory, the first argument of every command.
  static let store = Positional("STORE", "the store's directory")
}

/// An option of a command.
struct Option: Sendable, Hashable {
  /// The name with its dashes, for example `--map`.
  let name: String
  /// The name of the value in the help; `nil` for an option without a value.
  let value: String?
  /// Whether the option may be given more than once.
  let repeats: Bool
  /// One line of help.
  let help: String
  /// The values that shells complete; empty for any.
  var choices: [String] = []

  /// Makes an option without a value.
  static func flag(_ name: String, _ help: String) -> Option {
    Option(name: name, value: nil, repeats: false, help: help)
  }

  /// Makes an option with a value.
  static func value(
    _ name: String, _ value: String, repeats: Bool = false, _ help: String,
    choices: [String] = []
  ) -> Option {
    Option(name: name, value: value, repeats: repeats, help: help, choices: choices)
  }

  /// Machine-readable output, for every command that prints a report or a list.
  static let json = flag("--json", "print JSON instead of text")

  /// Permission to read a store on a read-only mount, for every command that only reads.
  static let assumingNoWriter = flag(
    "--assuming-no-writer", "read from a read-only mount to which no process writes")

  /// The option in the usage line.
  var usage: String {
    let text = value.map { "\(name) \($0)" } ?? name
    return "[\(text)]" + (repeats ? "…" : "")
  }
}
