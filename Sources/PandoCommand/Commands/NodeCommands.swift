import PandoManagers
import PandoModels
import PandoStore

/// `pando get`: prints a tree as JSON.
enum GetCommand: Command {
  static let declaration = CommandDeclaration(
    name: "get",
    summary: "print a node and all it holds as JSON",
    positionals: [.store, Positional("ID", "the node's identifier")],
    options: [
      .assumingNoWriter,
      .value("--depth", "N", "levels of nodes below it; 0 prints references to its children"),
      .value("--type", "TYPE", "the record of this type, where a node has several"),
      .flag("--compact", "one line"),
      .flag("--lossless", "JSON that `pando set --lossless` reads back exactly"),
      .flag("--state", "instead: synced, unsynced, pending, or refused by a server"),
    ],
    notes: [
      """
      The JSON of an imported node equals the input, with sorted names. A node below the given \
      depth is printed as {"$reference": [identifier, type]}. Data of that form is printed as \
      {"$$reference": …}; pando set removes one $ again.
      """
    ],
    examples: [
      .init("pando get tweets Status:505874924095815681", "a status with its user"),
      .init("pando get tweets User:1186275104 --compact | jq .screen_name", "one field of a user"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let depth = try arguments.count("--depth") ?? .max
    let identifier = arguments[1]
    let typeName = arguments.value("--type")
    if arguments.has("--state") {
      try arguments.refuse(
        ["--depth", "--type", "--compact", "--lossless"], "goes without --state")
      let state = try await StoreAccess.read.open(arguments[0], for: declaration) { store in
        try store.read { snapshot in
          let state = try snapshot.synchronizationState(of: identifier)
          guard try state != .unsynced || snapshot.contains(identifier) else {
            throw CommandError.noNode(identifier, in: arguments[0])
          }
          return state
        }
      }
      return try output.line(state.rawValue)
    }
    let tree = try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.read { snapshot in
        let types = try snapshot.typeNames(of: identifier)
        guard typeName.map({ types.contains($0) }) ?? true,
          let tree = try snapshot.tree(identifier, as: typeName, depth: depth)
        else { throw CommandError.noNode(identifier, typeName: typeName, in: arguments[0]) }
        return tree
      }
    }
    // A lossless tree names its root too, unlike its plain fields.
    let value = TreeValue.node(tree)
    let isPretty = !arguments.has("--compact")
    try output.line(
      arguments.has("--lossless")
        ? value.json(.lossless, isPretty: isPretty) : value.editableJSON(isPretty: isPretty))
  }
}

extension CommandError {
  /// Returns the error for a missing node.
  static func noNode(
    _ identifier: String, typeName: String? = nil, in path: String
  ) -> CommandError {
    let record = typeName.map { " with a record of type \($0)" } ?? ""
    return CommandError(
      .notThere, at: path, "there is no node \(identifier)\(record)",
      remedy: "list them with: pando ls \(path)")
  }
}

/// `pando ls`: lists nodes.
enum ListCommand: Command {
  static let declaration = CommandDeclaration(
    name: "ls",
    summary: "list identifiers, one a line, in the order of their bytes",
    positionals: [.store],
    options: [
      .assumingNoWriter,
      .value("--type", "T", "only nodes with a record of this type"),
      .value("--prefix", "P", "only identifiers that begin with P"),
      .value("--limit", "N", "at most N"),
      .flag("--count", "print how many instead"),
    ] + Option.lists,
    examples: [
      .init("pando ls tweets --type User --count", "how many users there are"),
      .init("pando ls tweets --prefix Status: | head", "the first ten statuses"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let typeName = arguments.value("--type")
    let prefix = arguments.value("--prefix") ?? ""
    let limit = try arguments.count("--limit") ?? .max
    let form = try ListForm(arguments)
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.read { snapshot in
        if arguments.has("--count") {
          let count = try min(count(snapshot, typeName, prefix), limit)
          return try output.write(count: count, form)
        }
        var list = ListOutput(output, form, columns: ["id"])
        var left = limit
        if left > 0 {
          try snapshot.forEachIdentifier(ofType: typeName, prefix: prefix) { identifier in
            try list.write(identifier)
            left -= 1
            return left > 0
          }
        }
        try list.end()
      }
    }
  }

  private static func count(
    _ snapshot: ModelSnapshot, _ typeName: String?, _ prefix: String
  ) throws -> Int {
    guard !prefix.isEmpty else { return try snapshot.count(ofType: typeName) }
    var count = 0
    try snapshot.forEachIdentifier(ofType: typeName, prefix: prefix) { _ in
      count += 1
      return true
    }
    return count
  }
}

/// `pando parents`: lists the parents of a node.
enum ParentsCommand: Command {
  static let declaration = CommandDeclaration(
    name: "parents",
    summary: "list the nodes that hold a node",
    positionals: [.store, Positional("ID", "the node's identifier")],
    options: [
      .assumingNoWriter,
      .flag("--all", "also the parents of the parents, and so on, nearest first"),
    ] + Option.lists,
    examples: [
      .init("pando parents tweets User:1186275104", "the statuses of a user, one a line")
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let identifier = arguments[1]
    let isAll = arguments.has("--all")
    let form = try ListForm(arguments)
    let parents = try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.read { snapshot in
        guard try snapshot.contains(identifier) else {
          throw CommandError.noNode(identifier, in: arguments[0])
        }
        return try isAll ? snapshot.ancestors(of: identifier) : snapshot.parents(of: identifier)
      }
    }
    var list = ListOutput(output, form, columns: ["id"])
    for parent in parents { try list.write(parent) }
    try list.end()
  }
}

/// `pando delete`: deletes a node and prints the effects of the cascade.
enum DeleteCommand: Command {
  static let declaration = CommandDeclaration(
    name: "delete",
    summary: "delete a node, and print what the cascade did",
    positionals: [.store, Positional("ID", "the node's identifier")],
    options: [.json],
    notes: [
      """
      The command prints a line for each affected node and collection: deleted or updated with \
      an identifier, collection with a key. A parent that holds the node as an optional child \
      loses it, lists and collections lose the element, and a parent that requires the node is \
      deleted too. Children of deleted nodes stay.
      """
    ],
    examples: [
      .init("pando delete tweets User:1186275104", "takes a user out of every status"),
      .init(
        "pando ls tweets --prefix User: | xargs -n 1 pando delete tweets", "deletes all users"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let identifier = arguments[1]
    let deletion = try await StoreAccess.change.open(arguments[0], for: declaration) { store in
      try await store.write { try $0.deleteIfPresent(identifier) }
    }
    guard let deletion else { throw CommandError.noNode(identifier, in: arguments[0]) }
    if arguments.has("--json") {
      let value: TreeValue = [
        "deleted": .texts(deletion.deleted), "updated": .texts(deletion.updated),
        "collections": .texts(deletion.collections),
      ]
      try output.line(value.json(isPretty: true))
      return
    }
    for (word, names) in [
      ("deleted", deletion.deleted), ("updated", deletion.updated),
      ("collection", deletion.collections),
    ] {
      for name in names { try output.line("\(word)\t\(name.escapingControlCharacters)") }
    }
  }
}

extension TreeValue {
  /// Returns an array of texts.
  static func texts(_ texts: [String]) -> TreeValue { .array(texts.map { .string($0) }) }
}
