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
      Positional("FIELD", count: .optional, "the field, with dots for one inside an object"),
    ],
    options: [.json],
    actions: [
      "STORE list [--json]", "STORE add TYPE FIELD", "STORE drop TYPE FIELD",
      "STORE check [--json]",
    ],
    notes: [
      """
      An index holds the values of one field over all nodes of a type, in order. It is kept by \
      every write, whoever writes, until it is dropped; pando query uses it by itself.
      """
    ],
    examples: [
      .init("pando index books add Book year", "from now on Book.year has an index"),
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
    guard arguments.positionals.count == (isChange ? 4 : 2) else {
      throw CommandError(
        .usage, "\(action) takes \(isChange ? "TYPE FIELD" : "nothing more")",
        remedy: "see: pando index --help")
    }
    if isChange { try arguments.refuse(["--json"], "is for list and check, not for \(action)") }
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
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      let indexes = try store.read { try $0.indexes() }
      guard arguments.has("--json") else {
        for index in indexes {
          try output.line(line(index.typeName, index.field))
        }
        return
      }
      var list = ListOutput(output, asJSON: true)
      for index in indexes {
        try list.write(value: ["type": .string(index.typeName), "field": .string(index.field)])
      }
      try list.end()
    }
  }

  private static func change(
    _ arguments: ParsedArguments, isAdded: Bool, _ output: StandardOutput
  ) async throws {
    let (typeName, field) = (arguments[2], arguments[3])
    try await StoreAccess.change.open(arguments[0], for: declaration) { store in
      let isChanged = try await store.write { transaction in
        // A misspelled type would get an index that nothing ever enters.
        guard try !isAdded || transaction.snapshot.count(ofType: typeName) > 0 else {
          throw CommandError(
            .notThere, at: arguments[0], "there is no node of type \(typeName)",
            remedy: "see which types there are with: pando stat \(arguments[0])")
        }
        return isAdded
          ? try transaction.addIndex(on: field, ofType: typeName)
          : try transaction.dropIndex(on: field, ofType: typeName)
      }
      guard isChanged || isAdded else {
        throw CommandError(
          .notThere, at: arguments[0], "there is no index of \(field) of \(typeName)",
          remedy: "list them with: pando index \(arguments[0]) list")
      }
      let word = isAdded ? isChanged ? "added" : "there already" : "dropped"
      try output.line(line(word, typeName, field))
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
