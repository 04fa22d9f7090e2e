/// The arguments of one run, told apart by their declaration.
struct ParsedArguments: Sendable {
  /// The declaration they were parsed by.
  let declaration: CommandDeclaration
  /// Arguments known by their place.
  var positionals: [String] = []
  /// Values by option name, in the order given; a flag has one empty value.
  var options: [String: [String]] = [:]
  /// Whether help was asked for instead of a run.
  var wantsHelp = false

  /// The argument at a place that the declaration requires.
  subscript(_ index: Int) -> String { positionals[index] }

  /// The argument at a place, or `nil` when there are fewer.
  func optional(_ index: Int) -> String? {
    index < positionals.count ? positionals[index] : nil
  }

  /// Whether a flag was given.
  func has(_ name: String) -> Bool {
    precondition(declaration.option(named: name) != nil, "\(name) is not declared")
    return options[name] != nil
  }

  /// The value of an option, or `nil` when it was not given.
  func value(_ name: String) -> String? {
    values(name).last
  }

  /// All values of an option that repeats.
  func values(_ name: String) -> [String] {
    precondition(declaration.option(named: name)?.value != nil, "\(name) is not declared")
    return options[name] ?? []
  }

  /// Refuses options that mean nothing where they are given.
  ///
  /// - Parameters:
  ///   - names: The options.
  ///   - reason: Where they belong, as the rest of a sentence about one of them.
  /// - Throws: A usage error that names the first one given.
  func refuse(_ names: [String], _ reason: String) throws(CommandError) {
    guard let name = names.first(where: has) else { return }
    throw CommandError(
      .usage, "\(name) \(reason)", remedy: "see: pando \(declaration.name) --help")
  }

  /// The value of an option that counts something, 0 or more.
  ///
  /// - Throws: A usage error when the value is no such number.
  func count(_ name: String) throws(CommandError) -> Int? {
    guard let text = value(name) else { return nil }
    return try ParsedArguments.count(text, called: name)
  }

  /// Reads a number that is 0 or more.
  ///
  /// - Throws: A usage error that names `name` when the text is no such number.
  static func count(_ text: String, called name: String) throws(CommandError) -> Int {
    guard let number = Int(text), number >= 0 else {
      throw CommandError(.usage, "\(name) takes a number that is 0 or more, not “\(text)”")
    }
    return number
  }
}
