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
  /// The arguments known by their position, in order.
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

/// An argument that is known by its position.
struct Positional: Sendable, Hashable {
  /// How often the argument stands there.
  enum Count: Sendable, Hashable {
    case one
    case optional
    case any
  }

  /// The name that usage and errors show, for example `STORE`.
  let name: String
  /// How often it is given.
  let count: Count
  /// One line of help.
  let help: String

  init(_ name: String, count: Count = .one, _ help: String) {
    self.name = name
    self.count = count
    self.help = help
  }

  /// The argument as the usage line shows it.
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

/// An option that a command takes.
struct Option: Sendable, Hashable {
  /// The name with its dashes, for example `--map`.
  let name: String
  /// How the value is called in the help; `nil` for an option without a value.
  let value: String?
  /// Whether the option may be given more than once.
  let repeats: Bool
  /// One line of help.
  let help: String

  /// An option that is there or not.
  static func flag(_ name: String, _ help: String) -> Option {
    Option(name: name, value: nil, repeats: false, help: help)
  }

  /// An option followed by a value.
  static func value(
    _ name: String, _ value: String, repeats: Bool = false, _ help: String
  ) -> Option {
    Option(name: name, value: value, repeats: repeats, help: help)
  }

  /// Machine-readable output, the same on every command that prints a report or a list.
  static let json = flag("--json", "print JSON instead of text")

  /// Whether a read-only mount may be read, the same on every command that only reads a store.
  static let assumingNoWriter = flag(
    "--assuming-no-writer", "read from a read-only mount: nobody writes to the store")

  /// The option as the usage line shows it.
  var usage: String {
    let text = value.map { "\(name) \($0)" } ?? name
    return "[\(text)]" + (repeats ? "…" : "")
  }
}
