import PandoStore

/// `pando changes`: the change log.
enum ChangesCommand: Command {
  static let declaration = CommandDeclaration(
    name: "changes",
    summary: "print what the commits changed",
    positionals: [.store],
    options: [
      .value("--since", "N", "only commits after number N; all the log holds unless given"), .json,
    ],
    notes: [
      """
      A line is the commit number, inserted, updated, deleted or collection, and the identifier or \
      key, with tabs between them. The log is bounded: where it no longer reaches back to N the \
      exit status is 1. `pando stat` prints the number of the last commit.
      """
    ],
    examples: [
      .init("pando changes tweets --since 41 | cut -f 3 | sort -u", "all that changed since 41")
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let since = try arguments.count("--since")
    let isJSON = arguments.has("--json")
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      let statistics = try store.statistics()
      let oldest = statistics.commitNumber - UInt64(statistics.changeLogCount)
      let changes = try store.read { snapshot in
        try snapshot.changes(since: since.map { UInt64($0) } ?? oldest)
      }
      try ChangeOutput(changes).write(to: output, asJSON: isJSON)
    }
  }
}
