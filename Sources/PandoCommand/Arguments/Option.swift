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

  /// The option as the usage line shows it.
  var usage: String {
    let text = value.map { "\(name) \($0)" } ?? name
    return "[\(text)]" + (repeats ? "…" : "")
  }
}
