import PandoModels
import PandoStore

/// `pando collections`: which ordered collections there are.
enum CollectionsCommand: Command {
  static let declaration = CommandDeclaration(
    name: "collections",
    summary: "list the keys of the collections, one a line",
    positionals: [.store],
    options: [.json],
    notes: ["With --json each key comes with the number of its elements."],
    examples: [.init("pando collections tweets", "for example: timeline")])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let isJSON = arguments.has("--json")
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.read { snapshot in
        var list = ListOutput(output, asJSON: isJSON)
        for key in try snapshot.collectionKeys() {
          guard isJSON else {
            try list.write(key)
            continue
          }
          let count = try snapshot.collectionCount(key) ?? 0
          try list.write(value: ["key": .string(key), "count": .integer(Int64(count))])
        }
        try list.end()
      }
    }
  }
}
