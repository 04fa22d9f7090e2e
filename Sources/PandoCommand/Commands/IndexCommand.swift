import PandoModels
import PandoStore

/// `pando index`: the indexes that answer queries.
enum IndexCommand: Command {
  static let declaration = CommandDeclaration(
    name: "index",
    summary: "list, add, drop or check the indexes of a store",
    positionals: [
      .store, Positional("ACTION", "list, add, drop or check"),
      Positional("TYPE", count: .optional, "the type of the nodes"),
      Positional(
        "FIELD", count: .any,
        "the field, with dots for one inside an object; several for one index of all of them"),
    ],
    options: [
      .flag("--unique", "with add: no two nodes may have the same value"),
      .flag("--text", "an index of the words of all these fields, for pando query --search"),
      .flag("--totals", "with add: also keep the number of nodes in any range"),
      .value(
        "--sum", "FIELD", repeats: true, "with add: also keep the sum of this field in any range"),
    ] + Option.lists,
    actions: [
      "STORE list [--format FORMAT]",
      "STORE add TYPE FIELD… [--unique] [--totals] [--sum FIELD…] [--text]",
      "STORE drop TYPE FIELD… [--text]",
      "STORE check [--json]",
    ],
    notes: [
      """
      An index has the values of one field of all nodes of a type, in order. Every write of any \
      program maintains it until it is dropped; pando query uses it automatically. An index of \
      several fields answers equality of the first ones with a range or an order of the next. A \
      unique index refuses writes that would give two nodes the same value; null does not count \
      as a value. An index with totals gives the number of nodes in any range, and the sums of \
      fields, without reading the nodes. Versions without support for indexes of several fields, for unique indexes or for \
      totals can't open a store that has one.
      """
    ],
    examples: [
      .init("pando index books add Book year", "from now on Book.year has an index"),
      .init("pando index books add Issue status author created", "one of three fields"),
      .init("pando index books add Order day --sum total", "the totals of any range of days"),
      .init("pando index books list", "a line for each: type and field"),
    ])

  private enum Action: String, CaseIterable {
    case list, add, drop, check
  }

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    guard let action = Action(rawValue: arguments[1]) else {
      let names = Action.allCases.map(\.rawValue).joined(separator: ", ")
      throw CommandError(
        .usage, "“\(arguments[1])” is none of \(names)", remedy: "see: pando index --help")
    }
    let isChange = action == .add || action == .drop
    let count = arguments.positionals.count
    guard isChange ? count >= 4 : count == 2 else {
      throw CommandError(
        .usage, "\(action) takes \(isChange ? "TYPE FIELD" : "nothing more")",
        remedy: "see: pando index --help")
    }
    if !isChange { try arguments.refuse(["--text"], "is for add and drop, not for \(action)") }
    if isChange { try arguments.refuse(["--json"], "is for list and check, not for \(action)") }
    if action != .list {
      try arguments.refuse(["--format", "--no-header", "--null"], "is for list, not for \(action)")
    }
    if action != .add {
      try arguments.refuse(["--unique", "--totals", "--sum"], "is for add, not for \(action)")
    }
    switch action {
    case .list: try await list(arguments, output)
    case .check: try await check(arguments, output)
    case .add, .drop: try await change(arguments, isAdded: action == .add, output)
    }
  }

  private static func line(_ words: String...) -> String {
    words.map(\.escapingControlCharacters).joined(separator: "\t")
  }

  private static func list(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let form = try ListForm(arguments)
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      let indexes = try store.read { try $0.indexes() }
      var list = ListOutput(output, form, columns: ["type", "fields", "unique", "sums"])
      for index in indexes {
        let fields = TreeValue.texts(index.fields)
        if form.format.hasColumns {
          let sums = index.sums.map { TreeValue.texts($0) } ?? .null
          try list.write(row: [.string(index.typeName), fields, .bool(index.isUnique), sums])
          continue
        }
        var value: [String: TreeValue] = ["type": .string(index.typeName)]
        if index.fields.count == 1, !index.isUnique {
          value["field"] = .string(index.field)
        } else {
          value["fields"] = fields
          value["unique"] = .bool(index.isUnique)
        }
        if let sums = index.sums { value["sums"] = .texts(sums) }
        try list.write(value: .object(value), line: line(index))
      }
      try list.end()
    }
  }

  private static func line(_ index: ModelIndex) -> String {
    var words = [index.typeName, index.fields.joined(separator: " ")]
    if index.isUnique { words.append("unique") }
    if let sums = index.sums { words.append((["totals"] + sums).joined(separator: " ")) }
    return words.map(\.escapingControlCharacters).joined(separator: "\t")
  }

  private static func change(
    _ arguments: ParsedArguments, isAdded: Bool, _ output: StandardOutput
  ) async throws {
    let typeName = arguments[2]
    var fields = try arguments.positionals.dropFirst(3)
      .map { try FilterParser.field(argument: $0).name }
    if arguments.has("--text") { fields = [ModelIndex.words(of: fields)] }
    let names = fields
    let isUnique = arguments.has("--unique")
    let named = try arguments.values("--sum").map { try FilterParser.field(argument: $0).name }
    let sums = arguments.has("--totals") || !named.isEmpty ? named : nil
    try await StoreAccess.change.open(arguments[0], for: declaration) { store in
      let isChanged = try await store.write { transaction in
        // For a misspelled type, the index would stay empty.
        guard try !isAdded || transaction.snapshot.count(ofType: typeName) > 0 else {
          throw CommandError(
            .notThere, at: arguments[0], "there is no node of type \(typeName)",
            remedy: "see which types there are with: pando stat \(arguments[0])")
        }
        return isAdded
          ? try transaction.addIndex(
            on: names, ofType: typeName, unique: isUnique, sums: sums)
          : try transaction.dropIndex(on: names, ofType: typeName)
      }
      guard isChanged || isAdded else {
        throw CommandError(
          .notThere, at: arguments[0],
          "there is no index of \(names.joined(separator: ", ")) of \(typeName)",
          remedy: "list them with: pando index \(arguments[0]) list")
      }
      let word = isAdded ? isChanged ? "added" : "there already" : "dropped"
      try output.line(line(word, typeName, names.joined(separator: " ")))
    }
  }

  private static func check(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let path = arguments[0]
    try await StoreAccess.read.open(path, for: declaration) { store in
      let (count, problems) = try store.read { snapshot in
        (try snapshot.indexes().count, try snapshot.indexProblems())
      }
      if arguments.has("--json") {
        let value: TreeValue = [
          "clean": .bool(problems.isEmpty), "indexes": .integer(Int64(count)),
          "problems": .array(
            problems.map { ["subject": .string($0.subject), "reason": .string($0.reason)] }),
        ]
        try output.line(value.json(isPretty: true))
      } else {
        for problem in problems { try output.line("\(problem)".escapingControlCharacters) }
        if problems.isEmpty {
          try output.line("clean: \(Figures.count(count, "index", "indexes"))")
        }
      }
      guard problems.isEmpty else {
        throw CommandError(
          .failure, at: path,
          "the indexes are damaged: \(Figures.count(problems.count, "problem"))",
          remedy: "drop and add those that are named; check the rest with: pando verify \(path)")
      }
    }
  }
}
