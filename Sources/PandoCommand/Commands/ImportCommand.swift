import PandoModels
import PandoStore

/// `pando import`: stores plain JSON as trees of nodes.
enum ImportCommand: Command {
  static let declaration = CommandDeclaration(
    name: "import",
    summary: "store JSON as trees of nodes",
    positionals: [
      .store,
      Positional("FILE|-", "a JSON file, or - for standard input"),
    ],
    options: [
      .flag("--lines", "each line is a JSON value of its own; commits every 10 000 lines"),
      .value("--root", "TYPE:FIELD", "the top object is a TYPE, identified by its FIELD"),
      .value(
        "--map", "PROPERTY=TYPE:FIELD", repeats: true,
        "objects under PROPERTY are nodes of TYPE, identified by FIELD"),
      .value(
        "--require", "PROPERTY", repeats: true,
        "a node cannot be without the node under PROPERTY"),
      .value("--collection", "KEY", "append the imported trees to a collection, in order"),
      .flag("--strict", "refuse data outside every node instead of leaving it out"),
      .flag("--keep-going", "skip bad lines and report them (with --lines)"),
      .json,
    ],
    notes: [
      """
      Every object that is the value of PROPERTY, or an element of the array or of the map under \
      it, becomes a node. Its identifier is TYPE: and the value of FIELD. --root declares the \
      same for the top object, for each line with --lines, and for each element of a top array. \
      Any other object belongs to the node around it.
      """,
      """
      @key in place of FIELD means that the object is a map whose values are the nodes; the key \
      of each value makes its identifier. Write @@key for a field with the name @key.
      """,
      """
      A property with a node is an optional edge, an array of nodes is a list. When the node is \
      deleted, the property becomes null, and the list loses the element. With --require a \
      delete of the node also deletes its parent.
      """,
      """
      A file is one transaction. With --lines memory does not grow with the file, and an error \
      names the last committed line. The store keeps the rules: later imports add to them, and \
      `pando set` splits JSON by them.
      """,
    ],
    examples: [
      .init(
        "pando import tweets twitter.json --map statuses=Status:id_str --map user=User:id_str",
        "statuses and their users, each user stored once"),
      .init(
        "zcat log.jsonl.gz | pando import log - --lines --root Event:id --collection events",
        "one event a line, kept in order under the name events"),
      .init(
        "pando import world cities.json --root City:@key",
        #"{"Ulm": {…}, "Bonn": {…}} becomes City:Ulm and City:Bonn"#),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let path = arguments[0]
    let isLines = arguments.has("--lines")
    guard isLines || !arguments.has("--keep-going") else {
      throw CommandError(
        .usage, "--keep-going skips lines, so it needs --lines",
        remedy: "without --lines a file is imported as a whole or not at all")
    }
    if arguments.value("--collection")?.isEmpty == true {
      throw CommandError(.usage, "--collection needs a name that is not empty")
    }
    let input = try Input(path: arguments[1])
    let mapping = try await mapping(arguments)
    var importer = Importer(
      mapping, collection: arguments.value("--collection"),
      isStrict: arguments.has("--strict"), keepsGoing: arguments.has("--keep-going"))
    // An invalid document fails before a store is created for it.
    let trees = isLines ? [] : try importer.trees(in: input)
    let report = try await StoreAccess.create.open(path, for: declaration) { store in
      if isLines {
        try await importer.importLines(of: input, into: store)
      } else {
        try await importer.store(trees, of: input, into: store)
      }
      return try importer.report(of: input, in: store)
    }
    if arguments.has("--json") {
      try output.line(report.treeValue.json(isPretty: true))
    } else {
      for line in report.lines { try output.line(line) }
    }
  }

  /// Returns the rules of the store, if it exists, and those of the command line.
  private static func mapping(_ arguments: ParsedArguments) async throws -> ImportMapping {
    var mapping = ImportMapping()
    if StoreAccess.hasStore(at: arguments[0]) {
      mapping = try await StoreAccess.read.open(arguments[0], for: declaration) { store in
        try store.read { try $0.importMapping() }
      }
    }
    try mapping.add(arguments)
    guard !mapping.isEmpty else {
      throw CommandError(
        .usage, "nothing says what a node is",
        remedy: "give --root TYPE:FIELD or --map PROPERTY=TYPE:FIELD, see: pando import --help")
    }
    return mapping
  }
}
