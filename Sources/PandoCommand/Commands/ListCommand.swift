import PandoModels
import PandoStore

/// `pando ls`: which nodes there are.
enum ListCommand: Command {
  static let declaration = CommandDeclaration(
    name: "ls",
    summary: "list identifiers, one a line, in the order of their bytes",
    positionals: [.store],
    options: [
      .value("--type", "T", "only nodes with a record of this type"),
      .value("--prefix", "P", "only identifiers that begin with P"),
      .value("--limit", "N", "at most N"),
      .flag("--count", "print how many instead"),
      .json,
    ],
    examples: [
      .init("pando ls tweets --type User --count", "how many users there are"),
      .init("pando ls tweets --prefix Status: | head", "the first ten statuses"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let typeName = arguments.value("--type")
    let prefix = arguments.value("--prefix") ?? ""
    let limit = try arguments.count("--limit") ?? .max
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.read { snapshot in
        if arguments.has("--count") {
          let count = try min(count(snapshot, typeName, prefix), limit)
          let value: TreeValue = ["count": .integer(Int64(count))]
          try output.line(arguments.has("--json") ? value.json() : String(count))
          return
        }
        var list = ListOutput(output, asJSON: arguments.has("--json"))
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
