import PandoModels

/// Separates options from arguments by a command's declaration.
///
/// `--name VALUE` and `--name=VALUE` are the same; `--` ends the options; `-` alone is an argument
/// (standard input). `--help` or `-h` before `--` requests help, whatever else is wrong.
struct ArgumentParser {
  let declaration: CommandDeclaration

  /// Parses the arguments after the command's name.
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

/// The arguments of one run, by the names of their declaration.
struct ParsedArguments: Sendable {
  /// The declaration of the command.
  let declaration: CommandDeclaration
  /// The positional arguments.
  var positionals: [String] = []
  /// Values by option name, in the order given; a flag has one empty value.
  var options: [String: [String]] = [:]
  /// Whether the arguments request help instead of a run.
  var wantsHelp = false

  /// The required argument at a position.
  subscript(_ index: Int) -> String { positionals[index] }

  /// The argument at a position, or `nil` if there are fewer.
  func optional(_ index: Int) -> String? {
    index < positionals.count ? positionals[index] : nil
  }

  /// Whether a flag was given.
  func has(_ name: String) -> Bool {
    precondition(declaration.option(named: name) != nil, "\(name) is not declared")
    return options[name] != nil
  }

  /// The value of an option, or `nil` if it was not given.
  func value(_ name: String) -> String? {
    values(name).last
  }

  /// All values of a repeated option.
  func values(_ name: String) -> [String] {
    precondition(declaration.option(named: name)?.value != nil, "\(name) is not declared")
    return options[name] ?? []
  }

  /// Refuses options that have no effect in this run.
  ///
  /// - Parameters:
  ///   - names: The options.
  ///   - reason: The place where they have an effect, as the rest of a sentence about one of them.
  /// - Throws: A usage error that names the first one given.
  func refuse(_ names: [String], _ reason: String) throws(CommandError) {
    guard let name = names.first(where: has) else { return }
    throw CommandError(
      .usage, "\(name) \(reason)", remedy: "see: pando \(declaration.name) --help")
  }

  /// The value of a counting option, 0 or more.
  ///
  /// - Throws: A usage error if the value is no such number.
  func count(_ name: String) throws(CommandError) -> Int? {
    guard let text = value(name) else { return nil }
    return try ParsedArguments.count(text, called: name)
  }

  /// The value of an option with a commit number, with or without its history.
  ///
  /// - Throws: A usage error if the value is no commit number.
  func commitNumber(_ name: String) throws(CommandError) -> CommitNumber? {
    guard let text = value(name) else { return nil }
    guard let number = CommitNumber(text) else {
      throw CommandError(
        .usage, "\(name) takes a commit number such as 41 or 41.6f3a90c2d1e4b577, not “\(text)”")
    }
    return number
  }

  /// Reads a number, 0 or more.
  ///
  /// - Throws: A usage error that names `name` if the text is no such number.
  static func count(_ text: String, called name: String) throws(CommandError) -> Int {
    guard let number = Int(text), number >= 0 else {
      throw CommandError(.usage, "\(name) takes a number that is 0 or more, not “\(text)”")
    }
    return number
  }
}

extension String {
  /// The number of characters to insert, delete or replace to get from one text to the other
  /// (Levenshtein distance, computed row by row).
  func editDistance(to other: String) -> Int {
    let other = Array(other)
    var row = Array(0...other.count)
    for (line, character) in self.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for column in other.indices {
        let substituted = diagonal + (character == other[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(substituted, diagonal + 1, row[column] + 1)
      }
    }
    return row[other.count]
  }
}
