import PandoStore

/// `pando dump`: a store as text.
enum DumpCommand: Command {
  static let declaration = CommandDeclaration(
    name: "dump",
    summary: "print a whole store as JSON lines that `pando load` reads",
    positionals: [.store],
    notes: [
      """
      Nothing is lost: loading a dump into a new store and dumping that prints the same bytes. \
      Other processes may read and write meanwhile; the dump is of one commit.
      """
    ],
    examples: [.init("pando dump tweets | gzip > tweets.gz", "a backup as text")])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.dump { line in try output.line(line) }
    }
  }
}
