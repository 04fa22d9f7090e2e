import PandoModels
import PandoRecords
import PandoStore
import PandoSystem

/// `pando query`: lists the nodes of a type that match a filter, or answers questions about them.
enum QueryCommand: Command {
  static let declaration = CommandDeclaration(
    name: "query",
    summary: "find, count and add up nodes of a type by the values of their fields",
    positionals: [
      .store, Positional("TYPE", "the type of the nodes"),
      Positional("FILTER", "which of them, such as 'year > 1990'; all for all"),
    ],
    options: [
      .assumingNoWriter,
      .value(
        "--order", "FIELD", repeats: true, "by this field, FIELD:desc for the highest value first"),
      .value("--limit", "N", "at most N"),
      .value(
        "--search", "WORDS", "nodes with these words, the most relevant first (pando index)"),
      .value("--fields", "FIELD,…", "print these fields, FIELD:date for a date"),
      .flag("--count", "print how many instead"),
      .value("--count-by", "FIELD,…", "print how many there are of each value"),
      .value("--sum", "FIELD", "print the sum of this field"),
      .value("--by", "FIELD,…", "print the sum for each value of these fields"),
      .value("--top", "N", "only the N groups with the highest sum, or the most nodes"),
      .flag("--follow", "print the result again when it changes, until interrupted"),
      .flag("--explain", "print how the query is answered instead"),
    ] + Option.lists,
    notes: [
      """
      A filter compares fields with values: == != < <= > >=, ~= "regular expression", and >> \
      [value, …] for one of several. && and || and ! and brackets combine comparisons. Values \
      are texts in quotation marks, numbers, true, false, null, date("2026-11-21T18:00:00Z") and \
      uuid("…"). A dot names a field of an inner object, as in place.city. $id is the identifier \
      of the node. Write `backticks` around a name with other characters, and around a field \
      with the name $id.
      """,
      """
      Identifiers are printed one a line, in the given order, else in the order in which the \
      store first stored them. A comparison of a field with an index (see pando index) does not \
      read all nodes.
      """,
      """
      A row has its fields in the order of --fields. A child is its identifier; a list or an \
      object is JSON. FIELD:date prints seconds since 2001 as a date in UTC; in --count-by and \
      --by, :year, :quarter, :month, :week, :day, :hour, :minute and :second shorten it. Groups \
      are in the order of their values; with --top the highest answer comes first.
      """,
      """
      --follow prints each version of the result as a whole, when a commit of any process has \
      changed it. An empty line ends a version; in JSON a version is one line.
      """,
    ],
    examples: [
      .init(#"pando query books Book 'year > 1990 && title ~= "^The"'"#, "by two fields"),
      .init("pando query books Book all --order year:desc --limit 10", "the ten newest"),
      .init("pando query books Book all --fields title,author.name --format csv", "as CSV"),
      .init("pando query shop Order all --sum total --by region --top 3", "the best regions"),
      .init("pando query shop Order all --count-by created:month", "how many each month"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let request = try QueryRequest(arguments)
    let form = try ListForm(arguments)
    let printer = QueryPrinter(request: request, form: form)
    let interruption = arguments.has("--follow") ? try Interruption() : nil
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try begin(printer, in: store, arguments, output)
      guard let interruption else { return }
      // Only the task writes to it until the task has ended.
      nonisolated(unsafe) let output = output
      let task = Task {
        try await QueryFollower(store: store, printer: printer).run { text in
          unsafe try output.write(text, whenReady: interruption.waitsFor)
        }
      }
      interruption.cancels(task)
      try await task.value
    }
  }

  /// Checks the type, and prints the result or the plan unless the result is followed.
  private static func begin(
    _ printer: QueryPrinter, in store: ModelStore, _ arguments: ParsedArguments,
    _ output: StandardOutput
  ) throws {
    let request = printer.request
    try store.read { snapshot in
      guard try snapshot.count(ofType: request.query.typeName) > 0 else {
        throw CommandError(
          .notThere, at: request.path, "there is no node of type \(request.query.typeName)",
          remedy: "see which types there are with: pando stat \(request.path)")
      }
      if arguments.has("--explain") {
        let plan = try printer.plan(snapshot).description
        if printer.form.format == .json || printer.form.format == .jsonl {
          return try output.line(TreeValue.object(["plan": .string(plan)]).json())
        }
        var list = ListOutput(output, printer.form, columns: ["plan"])
        try list.write(plan)
        return try list.end()
      }
      if !arguments.has("--follow") { try printer.print(snapshot) { try output.write($0) } }
    }
  }
}

/// Prints the versions of a result as they come.
private struct QueryFollower: Sendable {
  let store: ModelStore
  let printer: QueryPrinter

  /// Runs until the task is cancelled or an error is thrown.
  func run(_ print: (String) throws -> Void) async throws {
    var shown: String?
    func show() throws -> CommitNumber {
      var printer = printer
      printer.refusesUnknownFields = shown == nil
      let (text, number) = try result(printer)
      if text != shown { try print(version(text)) }
      shown = text
      return number
    }
    var last = try show()
    while !Task.isCancelled {
      do {
        for try await change in store.changes(since: last) {
          // One version may show several commits.
          if change.commitNumber.value > last.value { last = try show() }
        }
        return
      } catch let error as StoreError where error.code == .changesExpired {
        last = try show()
      }
    }
  }

  /// The text of the newest version, and its number.
  private func result(_ printer: QueryPrinter) throws -> (String, CommitNumber) {
    try store.read { snapshot in
      let text = Locked("")
      try printer.print(snapshot) { part in text.withLock { $0 += part } }
      return (text.withLock(\.self), try snapshot.commitNumber)
    }
  }

  /// The text of a version with its end.
  private func version(_ text: String) -> String {
    switch printer.form.format {
    case .json:
      // Texts in JSON have no line breaks of their own.
      return text.replacing("\n  ", with: "").replacing("\n]", with: "]")
    case .jsonl where printer.request.isNumber: return text
    case .jsonl:
      let lines = text.split(separator: "\n").joined(separator: ",")
      return "[" + lines + "]\n"
    default: return printer.request.isNumber && !printer.form.format.hasColumns ? text : text + "\n"
    }
  }
}
