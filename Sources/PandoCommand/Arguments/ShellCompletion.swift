/// Completion scripts for shells, made from the declarations.
enum ShellCompletion {
  /// Makes a function and a `complete` line for bash.
  static func bash(_ declarations: [CommandDeclaration]) -> String {
    let names = declarations.map(\.name).joined(separator: " ")
    let cases = declarations.map { declaration in
      "    \(declaration.name)) options='\(options(declaration).joined(separator: " "))' ;;"
    }
    return """
      # bash completion of pando \(Version.text)
      _pando() {
        local word=${COMP_WORDS[COMP_CWORD]} options=
        if [ "$COMP_CWORD" = 1 ]; then
          mapfile -t COMPREPLY < <(compgen -W '\(names) --help --version' -- "$word")
          return
        fi
        case ${COMP_WORDS[COMP_CWORD - 1]} in
      \(choices(declarations).joined(separator: "\n"))
        esac
        case ${COMP_WORDS[1]} in
          help) options='\(names)' ;;
      \(cases.joined(separator: "\n"))
        esac
        case $word in
          -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
          *)
            if [ "${COMP_WORDS[1]}" = help ]; then
              mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
            elif [ "$COMP_CWORD" = 2 ]; then
              mapfile -t COMPREPLY < <(compgen -d -- "$word")
            else
              COMPREPLY=()
            fi
            ;;
        esac
      }
      complete -o filenames -o bashdefault -o default -F _pando pando

      """
  }

  /// Makes a function for zsh, for a file `_pando`.
  static func zsh(_ declarations: [CommandDeclaration]) -> String {
    let commands = declarations.map { "    \(quoted("\($0.name):\($0.summary)"))" }
    let cases = declarations.map { declaration in
      let options = declaration.options.map { option in
        let choices =
          option.choices.isEmpty ? "" : "(\(option.choices.joined(separator: " ")))"
        let value = option.value.map { ":\($0):\(choices)" } ?? ""
        return quoted(
          "\(option.repeats ? "*" : "")\(option.name)[\(bracketed(option.help))]\(value)")
      }
      let arguments = options + [quoted("--help[print this help]"), "'*:argument:_files'"]
      return "    \(declaration.name)) _arguments \(arguments.joined(separator: " ")) ;;"
    }
    return """
      #compdef pando
      # zsh completion of pando \(Version.text)
      _pando() {
        local -a commands=(
      \(commands.joined(separator: "\n"))
        )
        if (( CURRENT == 2 )); then
          _describe command commands
          return
        fi
        (( CURRENT-- ))
        shift words
        case $words[1] in
          help) _describe command commands ;;
      \(cases.joined(separator: "\n"))
        esac
      }
      _pando "$@"

      """
  }

  /// The lines that complete the values of options, for bash.
  private static func choices(_ declarations: [CommandDeclaration]) -> [String] {
    var lines: [String] = []
    for option in declarations.flatMap(\.options) where !option.choices.isEmpty {
      let words = option.choices.joined(separator: " ")
      let line =
        "    \(option.name)) mapfile -t COMPREPLY < <(compgen -W '\(words)' -- \"$word\"); return ;;"
      if !lines.contains(line) { lines.append(line) }
    }
    return lines
  }

  private static func options(_ declaration: CommandDeclaration) -> [String] {
    declaration.options.map(\.name) + ["--help"]
  }

  /// Returns a text as one word of a shell.
  private static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }

  /// Returns a text as an explanation in brackets.
  private static func bracketed(_ text: String) -> String {
    String(text.flatMap { "[]:\\".contains($0) ? ["\\", $0] : [$0] })
  }
}
