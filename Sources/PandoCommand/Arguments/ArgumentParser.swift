/// Tells options from arguments by a command's declaration.
///
/// `--name VALUE` and `--name=VALUE` are the same; `--` ends the options; `-` alone is an argument
/// (standard input); `--help` or `-h` anywhere before `--` asks for help, whatever else is wrong.
struct ArgumentParser {
  let declaration: CommandDeclaration

  /// Parses what follows the command's name.
  ///
  /// - Throws: A usage error that names the argument.
  func parse(_ arguments: [String]) throws(CommandError) -> ParsedArguments {
    var parsed = ParsedArguments(declaration: declaration)
    let optionsEnd = arguments.firstIndex(of: "--") ?? arguments.endIndex
    if arguments[..<optionsEnd].contains(where: { $0 == "--help" || $0 == "-h" }) {
      parsed.wantsHelp = true
      return parsed
    }
    var index = 0
    while index < arguments.count {
      let argument = arguments[index]
      index += 1
      if argument == "--" {
        parsed.positionals += arguments[index...]
        break
      } else if argument.hasPrefix("-"), argument != "-" {
        try parseOption(argument, followedBy: arguments, &index, into: &parsed)
      } else {
        parsed.positionals.append(argument)
      }
    }
    try checkCount(parsed.positionals)
    return parsed
  }

  private func parseOption(
    _ argument: String, followedBy arguments: [String], _ index: inout Int,
    into parsed: inout ParsedArguments
  ) throws(CommandError) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = declaration.option(named: name) else {
      throw usageError("unknown option \(name)" + suggestion(for: name))
    }
    if parsed.options[name] != nil, !option.repeats {
      throw usageError("\(name) is given twice")
    }
    var value = ""
    if let placeholder = option.value {
      if parts.count == 2 {
        value = String(parts[1])
      } else if index < arguments.count, arguments[index] != "--" {
        value = arguments[index]
        index += 1
      } else {
        throw usageError("\(name) needs a value: \(name) \(placeholder)")
      }
    } else if parts.count == 2 {
      throw usageError("\(name) takes no value")
    }
    parsed.options[name, default: []].append(value)
  }

  private func checkCount(_ positionals: [String]) throws(CommandError) {
    if positionals.count < declaration.minimumCount {
      let missing = declaration.positionals.filter { $0.count == .one }[positionals.count]
      throw usageError("\(missing.name) is missing (\(missing.help))")
    }
    if positionals.count > declaration.maximumCount {
      let extra = positionals[declaration.maximumCount]
      throw usageError("“\(extra)” is one argument too many")
    }
  }

  private func usageError(_ reason: String) -> CommandError {
    CommandError(.usage, reason, remedy: "see: pando \(declaration.name) --help")
  }

  private func suggestion(for name: String) -> String {
    let near = declaration.options.map(\.name).filter {
      $0.hasPrefix(name) || name.hasPrefix($0) || $0.editDistance(to: name) <= 2
    }
    return near.first.map { " (did you mean \($0)?)" } ?? ""
  }
}
