/// `pando completion`: scripts that complete commands and options in a shell.
enum CompletionCommand: Command {
  static let declaration = CommandDeclaration(
    name: "completion",
    summary: "print a script that has a shell complete commands and options",
    positionals: [Positional("SHELL", "bash or zsh")],
    notes: [
      """
      The script contains the same commands and options as --help. bash: source it in ~/.bashrc, \
      or put it into /etc/bash_completion.d. zsh: put it as _pando into a folder of $fpath.
      """
    ],
    examples: [
      .init("source <(pando completion bash)", "complete in this shell"),
      .init("pando completion zsh > ~/.zfunc/_pando", "for a folder that $fpath has"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) throws {
    let declarations = CommandLineTool.commands.map { $0.declaration }
    switch arguments[0] {
    case "bash": try output.write(ShellCompletion.bash(declarations))
    case "zsh": try output.write(ShellCompletion.zsh(declarations))
    default:
      throw CommandError(
        .usage, "“\(arguments[0])” is no shell that can be completed", remedy: "it is bash or zsh")
    }
  }
}

/// `pando manual`: the man page.
enum ManualCommand: Command {
  static let declaration = CommandDeclaration(
    name: "manual",
    summary: "print the man page, made from what --help prints",
    positionals: [],
    examples: [
      .init("pando manual | man -l -", "read it"),
      .init("pando manual > /usr/local/share/man/man1/pando.1", "have man find it"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) throws {
    try output.write(ManualPage.text(CommandLineTool.commands.map { $0.declaration }))
  }
}
