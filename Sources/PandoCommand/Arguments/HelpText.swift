/// The text of `--help`, made from the declarations.
enum HelpText {
  /// The usual width of a terminal.
  private static let width = 80

  /// Makes the help of one command: usage, arguments, options, notes, examples.
  static func command(_ declaration: CommandDeclaration) -> String {
    var text = "pando \(declaration.name): \(declaration.summary)\n\nUsage:\n"
    text += usageLines(declaration).map { "  \($0)\n" }.joined()
    text += section("Arguments", declaration.positionals.map { ($0.name, $0.help) })
    let options = declaration.options.map { option in
      (option.value.map { "\(option.name) \($0)" } ?? option.name, option.help)
    }
    text += section("Options", options + [("--help", "print this help")])
    for note in declaration.notes { text += "\n" + wrapped(note) + "\n" }
    text += declaration.examples.count == 1 ? "\nExample:\n" : "\nExamples:\n"
    for example in declaration.examples {
      text += "  # \(example.meaning)\n  \(example.line)\n"
    }
    return text
  }

  /// Makes the help of all commands.
  static func overview(_ declarations: [CommandDeclaration]) -> String {
    """
    pando: a store of model trees, seen and changed from the shell.

    Usage:
      pando COMMAND STORE …
    \(section("Commands", declarations.map { ($0.name, $0.summary) }))
    `pando COMMAND --help` explains a command and shows an example; `pando --version` prints the version.
    Exit status: 0 done, 1 not there, 2 usage, 3 bad input, 4 store or system error.

    """
  }

  private static func usageLines(_ declaration: CommandDeclaration) -> [String] {
    let start = "pando \(declaration.name)"
    guard declaration.actions.isEmpty else { return declaration.actions.map { "\(start) \($0)" } }
    let parts = declaration.positionals.map(\.usage) + declaration.options.map(\.usage)
    let indent = String(repeating: " ", count: start.count + 3)
    var lines = [start]
    for part in parts {
      if lines[lines.count - 1].count + 1 + part.count > width - 2 {
        lines.append(indent + part)
      } else {
        lines[lines.count - 1] += " " + part
      }
    }
    return lines
  }

  private static func section(_ title: String, _ rows: [(String, String)]) -> String {
    guard !rows.isEmpty else { return "" }
    let width = rows.map(\.0.count).max() ?? 0
    let lines = rows.map { name, help in
      "  " + name + String(repeating: " ", count: width - name.count + 2) + help + "\n"
    }
    return "\n\(title):\n" + lines.joined()
  }

  private static func wrapped(_ text: String) -> String {
    var lines: [String] = [""]
    for word in text.split(separator: " ") {
      let line = lines[lines.count - 1]
      if line.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if line.count + 1 + word.count <= width {
        lines[lines.count - 1] = line + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines.joined(separator: "\n")
  }
}
