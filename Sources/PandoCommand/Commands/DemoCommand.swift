import FoundationEssentials

/// `pando demo`: the main job in one minute.
enum DemoCommand: Command {
  static let declaration = CommandDeclaration(
    name: "demo",
    summary: "show what a store does, with a few messages, people and images",
    positionals: [
      Positional("STORE", count: .optional, "where to store; a temporary directory unless given")
    ],
    notes: [
      """
      Stores some models, shows the tree of a message, changes one person and shows every tree \
      changed by one written record, tells a live provider and a list what others write, deletes a \
      required child and shows the cascade, reopens the store and shows it all still there.
      """
    ],
    examples: [
      .init("pando demo", "in a temporary directory, which is removed at the end"),
      .init("pando demo forest && pando ls forest", "in a store that stays, to look into"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    if let path = arguments.optional(0) {
      try await Demo(path: path, output).run()
      try output.line("The store stays in \(path): try  pando ls \(path)")
      return
    }
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("pando-demo-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    try await Demo(path: directory.path, output).run()
    try output.line("The store was temporary and is gone; keep one with  pando demo STORE")
  }
}
