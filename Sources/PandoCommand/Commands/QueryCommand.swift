import PandoModels
import PandoStore

/// `pando query`: which nodes of a type match a filter.
enum QueryCommand: Command {
  static let declaration = CommandDeclaration(
    name: "query",
    summary: "find nodes of a type by the values of their fields",
    positionals: [
      .store, Positional("TYPE", "the type of the nodes"),
      Positional("FILTER", "which of them, such as 'year > 1990'; all for all"),
    ],
    options: [
      .value(
        "--order", "FIELD", repeats: true, "by this field, FIELD:desc for the highest value first"),
      .value("--limit", "N", "at most N"),
      .flag("--explain", "print how the query is answered instead"),
      .flag("--count", "print how many instead"),
      .json,
    ],
    notes: [
      """
      A filter compares fields with values: == != < <= > >=, ~= "regular expression", and \
      >> [value, …] for one of several; && and || and ! and brackets combine them. Values are \
      texts in quotation marks, numbers, true, false, null, date("2026-11-21T18:00:00Z") and \
      uuid("…"). A field of an object inside has a dot, as in place.city; $id is the identifier \
      of the node; a name with other characters stands in `backticks`.
      """,
      """
      Identifiers are printed one a line, in the order asked for, else in the order in which the \
      store first saw them. Fields with an index (see pando index) are not searched for.
      """,
    ],
    examples: [
      .init(#"pando query books Book 'year > 1990 && title ~= "^The"'"#, "by two fields"),
      .init("pando query books Book all --order year:desc --limit 10", "the ten newest"),
    ])

  /// How many nodes are looked at to say which fields there are.
  private static let sampleCount = 1000

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let (filter, filterFields) = try FilterParser.parse(arguments[2])
    var query = RecordQuery(typeName: arguments[1])
    query.filter = filter
    query.limit = try arguments.count("--limit")
    let order = try arguments.values("--order").map(Self.order)
    query.order = order.map { .field(FilterParser.field($0.field), isDescending: $0.isDescending) }
    let fields = filterFields + order.map(\.field)
    let isJSON = arguments.has("--json")
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.read { snapshot in
        guard try snapshot.count(ofType: query.typeName) > 0 else {
          throw CommandError(
            .notThere, at: arguments[0], "there is no node of type \(query.typeName)",
            remedy: "see which types there are with: pando stat \(arguments[0])")
        }
        if arguments.has("--explain") {
          let plan = try snapshot.plan(for: query).description
          return try output.line(
            isJSON
              ? TreeValue.object(["plan": .string(plan)]).json() : plan.escapingControlCharacters)
        }
        let found = try snapshot.identifiers(matching: query)
        if found.isEmpty { try requireFields(fields, of: query.typeName, snapshot, arguments[0]) }
        if arguments.has("--count") {
          let value: TreeValue = ["count": .integer(Int64(found.count))]
          return try output.line(isJSON ? value.json() : String(found.count))
        }
        var list = ListOutput(output, asJSON: isJSON)
        for identifier in found { try list.write(identifier) }
        try list.end()
      }
    }
  }

  private static func order(
    _ text: String
  ) throws(CommandError) -> (field: String, isDescending: Bool) {
    var field = text
    let isDescending = text.hasSuffix(":desc")
    if isDescending { field.removeLast(5) }
    if field.hasSuffix(":asc") { field.removeLast(4) }
    guard !field.isEmpty else {
      throw CommandError(.usage, "--order takes FIELD or FIELD:desc, not “\(text)”")
    }
    return (field, isDescending)
  }

  /// Says which field is unknown where that may be why nothing was found.
  private static func requireFields(
    _ fields: [String], of typeName: String, _ snapshot: ModelSnapshot, _ path: String
  ) throws {
    var missing = fields.filter { $0 != "$id" }
    var known: Set<String> = []
    for identifier in try snapshot.identifiers(ofType: typeName, limit: sampleCount) {
      if missing.isEmpty { return }
      guard let tree = try snapshot.tree(identifier, as: typeName, depth: 0) else { continue }
      known.formUnion(tree.fields.objectValue?.keys.map { $0 } ?? [])
      missing.removeAll { name in
        tree[name] != nil
          || name.split(separator: ".").reduce(TreeValue?.some(.node(tree))) {
            $0?[String($1)]
          } != nil
      }
    }
    guard let name = missing.first else { return }
    let names = known.sorted().prefix(20).joined(separator: ", ")
    throw CommandError(
      .notThere, at: path, "no \(typeName) has a field “\(name)”", remedy: "it has: \(names)")
  }
}
