/// The man page, in the language of `man`: an overview, and the help text of each command.
enum ManualPage {
  static func text(_ declarations: [CommandDeclaration]) -> String {
    var lines = [
      #".TH PANDO 1 "" "pando \#(Version.text)" "User Commands""#, ".SH NAME",
      #"pando \- a store of model trees, seen and changed from the shell"#, ".SH SYNOPSIS",
      ".B pando", ".I COMMAND STORE", "…", ".SH DESCRIPTION",
    ]
    lines += literal(HelpText.overview(declarations))
    lines.append(".SH COMMANDS")
    for declaration in declarations {
      lines.append(".SS \(declaration.name)")
      lines += literal(HelpText.command(declaration))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns a text whose lines are not filled.
  private static func literal(_ text: String) -> [String] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    return [".nf"] + lines.map(escaped) + [".fi"]
  }

  private static func escaped(_ line: Substring) -> String {
    let text = line.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : String(text)
  }
}
