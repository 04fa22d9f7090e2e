import PandoModels
import PandoStore

/// `pando set`: stores a node under its identifier.
enum SetCommand: Command {
  static let declaration = CommandDeclaration(
    name: "set",
    summary: "store a node, split by the rules that imports left in the store",
    positionals: [
      .store, Positional("ID", "the node's identifier"),
      Positional("JSON", "a JSON object, or - for standard input"),
    ],
    options: [
      .flag("--merge", "change the given fields of each node, and keep the others"),
      .value("--type", "TYPE", "the node's type, if neither the store nor ID tells it"),
      .flag("--lossless", "JSON as `pando get --lossless` prints it"),
      .json,
    ],
    notes: [
      """
      A stored node keeps its type. A new node has the type before the colon of ID, as User in \
      User:7. If the rules say which field identifies the type, the value of that field must \
      equal ID; with --merge it may be absent. {"$reference": [identifier, type]} in a property \
      refers to a node that is already in the store, as `pando get --depth 0` prints it. Write \
      data of that form with one more $ in front: {"$$reference": …}, as `pando get` prints it.
      """,
      "Prints each identifier that was inserted or updated.",
    ],
    examples: [
      .init(
        #"pando set tweets User:7 '{"name":"Ada"}' --merge"#, "changes one field of a user"),
      .init(
        "pando get tweets User:7 | sed s/Ada/Grace/ | pando set tweets User:7 -",
        "edits a node with other tools"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let value = try parse(arguments)
    let isMerge = arguments.has("--merge")
    if !StoreAccess.hasStore(at: arguments[0]) {
      // An invalid node fails before a store is created for it.
      _ = try makeTree(value, arguments, StoredFacts())
    }
    let changes = try await StoreAccess.create.open(arguments[0], for: declaration) {
      store -> ChangeSet? in
      let facts = try await store.read { try StoredFacts(about: arguments[1], in: $0) }
      let tree = try makeTree(value, arguments, facts)
      return try await store.commit { transaction in
        if isMerge { try transaction.merge(tree) } else { try transaction.set(tree) }
      }.changeSet
    }
    try ChangeOutput(changes.map { [$0] } ?? []).write(
      to: output, ListForm(arguments.has("--json") ? .json : .line))
  }

  private static func parse(_ arguments: ParsedArguments) throws -> TreeValue {
    let (text, place) = (arguments[2], arguments[2] == "-" ? "standard input" : "JSON")
    do {
      let bytes = text == "-" ? try Input(path: "-").readAll() : Array(text.utf8)
      return try TreeValue(
        json: bytes.span, form: arguments.has("--lossless") ? .lossless : .plain)
    } catch {
      throw CommandError(wrapping: error).placed(in: place).advising("nothing was changed")
    }
  }

  /// Makes the tree to store from the JSON.
  private static func makeTree(
    _ value: TreeValue, _ arguments: ParsedArguments, _ facts: StoredFacts
  ) throws -> TreeNode {
    let identifier = arguments[1]
    guard !identifier.isEmpty else { throw CommandError(.badInput, "ID is empty") }
    if arguments.has("--lossless"), case .node(let node) = value {
      guard node.identifier == identifier else {
        throw CommandError(
          .badInput, at: identifier, "the JSON is the node \(node.identifier)",
          remedy: "give one of the two identifiers twice")
      }
      return node
    }
    let mapping = facts.mapping
    let typeName = try typeName(of: identifier, arguments, facts)
    if arguments.has("--lossless") {
      return TreeNode(identifier, type: typeName, fields: value)
    }
    try checkIdentity(
      of: value, identifier, typeName, mapping,
      mayLackField: arguments.has("--merge") && !facts.typeNames.isEmpty)
    var splitter = TreeSplitter(mapping, acceptsReferences: true)
    do {
      return try splitter.tree(value, identifier: identifier, typeName: typeName)
    } catch {
      throw error.placed(in: identifier).advising("nothing was changed")
    }
  }

  private static func typeName(
    of identifier: String, _ arguments: ParsedArguments, _ facts: StoredFacts
  ) throws -> String {
    if let typeName = arguments.value("--type") { return typeName }
    let stored = facts.typeNames
    if stored.count == 1 { return stored[0] }
    if stored.count > 1 {
      throw CommandError(
        .usage, at: identifier,
        "the node has records of several types: "
          + stored.joined(separator: ", "), remedy: "choose one with --type")
    }
    if let typeName = facts.mapping.typeName(ofIdentifier: identifier) { return typeName }
    if let colon = identifier.firstIndex(of: ":"), colon != identifier.startIndex {
      return String(identifier[..<colon])
    }
    throw CommandError(
      .usage, at: identifier, "nothing says which type the new node has",
      remedy: "give --type TYPE, or an identifier of the form TYPE:…")
  }

  /// Checks that the identifying field agrees with the command line; otherwise the next import
  /// would store the same node under another identifier.
  private static func checkIdentity(
    of value: TreeValue, _ identifier: String, _ typeName: String, _ mapping: ImportMapping,
    mayLackField: Bool
  ) throws {
    let fields = mapping.fields(ofType: typeName)
    guard !fields.isEmpty, case .object(let object) = value,
      identifier.hasPrefix(typeName + ":")
    else { return }
    let given = fields.sorted().compactMap { field in object[field].map { (field, $0) } }
    if given.isEmpty, !mayLackField {
      throw CommandError(
        .badInput, at: identifier,
        "a \(typeName) without “\(fields.sorted().joined(separator: "” or “"))”, which identifies it",
        remedy:
          "add the field, or change some fields of a stored node with --merge; nothing was changed")
    }
    if !given.isEmpty,
      !given.contains(where: { "\(typeName):\($0.1.identifyingText ?? "")" == identifier })
    {
      throw CommandError(
        .badInput, at: identifier, "“\(given[0].0)” is \(given[0].1.json()), which says otherwise",
        remedy: "correct the field or ID; nothing was changed")
    }
  }
}

/// The stored facts about a node to set.
struct StoredFacts {
  /// The rules of the imports.
  var mapping = ImportMapping()
  /// The types of the node's records; empty for a new node.
  var typeNames: [String] = []

  /// Makes the facts of an empty store.
  init() {}

  /// Reads the facts from a snapshot.
  init(about identifier: String, in snapshot: ModelSnapshot) throws {
    mapping = try snapshot.importMapping()
    if !identifier.isEmpty { typeNames = try snapshot.typeNames(of: identifier) }
  }
}
