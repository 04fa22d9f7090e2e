import PandoModels
import PandoStore

/// `pando query`: lists the nodes of a type that match a filter.
enum QueryCommand: Command {
  static let declaration = CommandDeclaration(
    name: "query",
    summary: "find nodes of a type by the values of their fields",
    positionals: [
      .store, Positional("TYPE", "the type of the nodes"),
      Positional("FILTER", "which of them, such as 'year > 1990'; all for all"),
    ],
    options: [
      .assumingNoWriter,
      .value(
        "--order", "FIELD", repeats: true, "by this field, FIELD:desc for the highest value first"),
      .value("--limit", "N", "at most N"),
      .flag("--explain", "print how the query is answered instead"),
      .flag("--count", "print how many instead"),
      .json,
    ],
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
    ],
    examples: [
      .init(#"pando query books Book 'year > 1990 && title ~= "^The"'"#, "by two fields"),
      .init("pando query books Book all --order year:desc --limit 10", "the ten newest"),
    ])

  /// The number of nodes read to find the existing fields.
  private static let sampleCount = 1000

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let (filter, filterFields) = try FilterParser.parse(arguments[2])
    var query = RecordQuery(typeName: arguments[1])
    query.filter = filter
    query.limit = try arguments.count("--limit")
    let order = try arguments.values("--order").map(Self.order)
    query.order = order.map { .field($0.field.field, isDescending: $0.isDescending) }
    let fields = filterFields + order.map(\.field)
    let isJSON = arguments.has("--json")
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.read { snapshot in
        guard try snapshot.count(ofType: query.typeName) > 0 else {
          throw CommandError(
            .notThere, at: arguments[0], "there is no node of type \(query.typeName)",
            remedy: "see which types there are with: pando stat \(arguments[0])")
        }
        let query = try snapshot.byIndexedFields(query)
        let isCount = arguments.has("--count")
        if arguments.has("--explain") {
          let plan = try
            (isCount ? snapshot.plan(for: .count, to: query) : snapshot.plan(for: query))
            .description
          return try output.line(
            isJSON
              ? TreeValue.object(["plan": .string(plan)]).json() : plan.escapingControlCharacters)
        }
        if isCount {
          let count = try snapshot.answer(.count, to: query).count
          if count == 0 { try requireFields(fields, of: query.typeName, snapshot, arguments[0]) }
          let value: TreeValue = ["count": .integer(Int64(count))]
          return try output.line(isJSON ? value.json() : String(count))
        }
        let found = try snapshot.identifiers(matching: query)
        if found.isEmpty { try requireFields(fields, of: query.typeName, snapshot, arguments[0]) }
        var list = ListOutput(output, asJSON: isJSON)
        for identifier in found { try list.write(identifier) }
        try list.end()
      }
    }
  }

  private static func order(
    _ text: String
  ) throws(CommandError) -> (field: FilterField, isDescending: Bool) {
    var field = text
    let isDescending = text.hasSuffix(":desc")
    if isDescending { field.removeLast(5) }
    if field.hasSuffix(":asc") { field.removeLast(4) }
    guard !field.isEmpty else {
      throw CommandError(.usage, "--order takes FIELD or FIELD:desc, not “\(text)”")
    }
    return (try FilterParser.field(argument: field), isDescending)
  }

  /// Throws if an unknown field may be the reason for an empty result.
  private static func requireFields(
    _ fields: [FilterField], of typeName: String, _ snapshot: ModelSnapshot, _ path: String
  ) throws {
    var missing = fields.compactMap { if case .named = $0.field { $0.name } else { nil } }
    var known: Set<String> = []
    for identifier in try snapshot.identifiers(ofType: typeName, limit: sampleCount) {
      if missing.isEmpty { return }
      guard let tree = try snapshot.tree(identifier, as: typeName, depth: 0) else { continue }
      known.formUnion(tree.fields.objectValue?.keys.map { $0 } ?? [])
      missing.removeAll { name in
        tree[name] != nil || leads(name.split(separator: ".")[...], into: .node(tree))
      }
    }
    guard let name = missing.first else { return }
    let names = known.sorted().prefix(20).joined(separator: ", ")
    throw CommandError(
      .notThere, at: path, "no \(typeName) has a field “\(name)”", remedy: "it has: \(names)")
  }
}

extension QueryCommand {
  /// Whether a value may have a field of this name; children and elements are not read.
  private static func leads(_ parts: ArraySlice<Substring>, into value: TreeValue) -> Bool {
    guard let part = parts.first else { return true }
    let isEach = part.hasSuffix("[]")
    switch value[String(isEach ? part.dropLast(2) : part)] {
    case nil: return false
    case .reference, .required(.reference): return true
    case let next?: return isEach || leads(parts.dropFirst(), into: next)
    }
  }
}

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
      .flag("--totals", "with add: also keep the number of nodes in any range"),
      .value(
        "--sum", "FIELD", repeats: true, "with add: also keep the sum of this field in any range"),
      .json,
    ],
    actions: [
      "STORE list [--json]", "STORE add TYPE FIELD… [--unique] [--totals] [--sum FIELD…]",
      "STORE drop TYPE FIELD…",
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
    if isChange { try arguments.refuse(["--json"], "is for list and check, not for \(action)") }
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
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      let indexes = try store.read { try $0.indexes() }
      guard arguments.has("--json") else {
        for index in indexes {
          let fields = index.fields.joined(separator: " ")
          var words = [index.typeName, fields]
          if index.isUnique { words.append("unique") }
          if let sums = index.sums { words.append((["totals"] + sums).joined(separator: " ")) }
          try output.line(words.map(\.escapingControlCharacters).joined(separator: "\t"))
        }
        return
      }
      var list = ListOutput(output, asJSON: true)
      for index in indexes {
        var value: [String: TreeValue] = ["type": .string(index.typeName)]
        if index.fields.count == 1, !index.isUnique {
          value["field"] = .string(index.field)
        } else {
          value["fields"] = .array(index.fields.map { .string($0) })
          value["unique"] = .bool(index.isUnique)
        }
        if let sums = index.sums { value["sums"] = .array(sums.map { .string($0) }) }
        try list.write(value: .object(value))
      }
      try list.end()
    }
  }

  private static func change(
    _ arguments: ParsedArguments, isAdded: Bool, _ output: StandardOutput
  ) async throws {
    let typeName = arguments[2]
    let fields = try arguments.positionals.dropFirst(3)
      .map { try FilterParser.field(argument: $0).name }
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
            on: fields, ofType: typeName, unique: isUnique, sums: sums)
          : try transaction.dropIndex(on: fields, ofType: typeName)
      }
      guard isChanged || isAdded else {
        throw CommandError(
          .notThere, at: arguments[0],
          "there is no index of \(fields.joined(separator: ", ")) of \(typeName)",
          remedy: "list them with: pando index \(arguments[0]) list")
      }
      let word = isAdded ? isChanged ? "added" : "there already" : "dropped"
      try output.line(line(word, typeName, fields.joined(separator: " ")))
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
