import PandoModels
import PandoStore

/// `pando get`: prints a tree as JSON.
enum GetCommand: Command {
  static let declaration = CommandDeclaration(
    name: "get",
    summary: "print a node and all it holds as JSON",
    positionals: [.store, Positional("ID", "the node's identifier")],
    options: [
      .value("--depth", "N", "levels of nodes below it; 0 prints references to its children"),
      .value("--type", "TYPE", "the record of this type, where a node has several"),
      .flag("--compact", "one line"),
      .flag("--lossless", "JSON that `pando set --lossless` reads back exactly"),
    ],
    notes: [
      """
      Imported JSON comes back as it went in; names are sorted. A node below the depth asked for is \
      {"$reference": [identifier, type]}.
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
    let tree = try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.read { snapshot in
        let types = try snapshot.typeNames(of: identifier)
        guard typeName.map({ types.contains($0) }) ?? true,
          let tree = try snapshot.tree(identifier, as: typeName, depth: depth)
        else { throw CommandError.noNode(identifier, typeName: typeName, in: arguments[0]) }
        return tree
      }
    }
    // A lossless tree names its root too, so that it can be told from its fields.
    let value = TreeValue.node(tree)
    try output.line(
      value.json(
        arguments.has("--lossless") ? .lossless : .plain, isPretty: !arguments.has("--compact")))
  }
}

extension CommandError {
  /// A node that is not in the store.
  static func noNode(
    _ identifier: String, typeName: String? = nil, in path: String
  ) -> CommandError {
    let record = typeName.map { " with a record of type \($0)" } ?? ""
    return CommandError(
      .notThere, at: path, "there is no node \(identifier)\(record)",
      remedy: "list them with: pando ls \(path)")
  }
}
