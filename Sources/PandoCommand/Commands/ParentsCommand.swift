import PandoStore

/// `pando parents`: who holds a node.
enum ParentsCommand: Command {
  static let declaration = CommandDeclaration(
    name: "parents",
    summary: "list the nodes that hold a node",
    positionals: [.store, Positional("ID", "the node's identifier")],
    options: [
      .flag("--all", "also the parents of the parents, and so on, nearest first"), .json,
    ],
    examples: [
      .init("pando parents tweets User:1186275104", "the statuses of a user, one a line")
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let identifier = arguments[1]
    let isAll = arguments.has("--all")
    let parents = try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.read { snapshot in
        guard try snapshot.contains(identifier) else {
          throw CommandError.noNode(identifier, in: arguments[0])
        }
        return try isAll ? snapshot.ancestors(of: identifier) : snapshot.parents(of: identifier)
      }
    }
    var list = ListOutput(output, asJSON: arguments.has("--json"))
    for parent in parents { try list.write(parent) }
    try list.end()
  }
}
