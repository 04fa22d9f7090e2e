extension ListForm {
  /// Reads the options of ``Option/lists``.
  ///
  /// - Throws: A usage error for an unknown format, and for options without an effect.
  init(_ arguments: ParsedArguments) throws(CommandError) {
    let names = Format.allCases.map(\.rawValue).joined(separator: ", ")
    var format = Format.line
    if let word = arguments.value("--format") {
      guard let known = Format(rawValue: word) else {
        throw CommandError(.usage, "--format takes one of \(names), not “\(word)”")
      }
      if arguments.has("--json"), known != .json {
        throw CommandError(.usage, "--json is --format json, and --format says \(word)")
      }
      format = known
    } else if arguments.has("--json") {
      format = .json
    }
    if !format.hasColumns {
      try arguments.refuse(["--no-header"], "is for table, csv, tsv and markdown")
    }
    if format == .json || format == .jsonl {
      try arguments.refuse(["--null"], "is not for JSON, which has null")
    }
    self.init(
      format, hasHeader: !arguments.has("--no-header"), null: arguments.value("--null") ?? "")
  }
}

extension Option {
  /// The form of a list, for every command that prints one.
  static let lists: [Option] = [
    .value(
      "--format", "FORMAT", "line, table, json, jsonl, csv, tsv or markdown",
      choices: ListForm.Format.allCases.map(\.rawValue)),
    .flag("--no-header", "without the names of the columns"),
    .value("--null", "TEXT", "print TEXT for null, instead of nothing"),
    .flag("--json", "the same as --format json"),
  ]
}
