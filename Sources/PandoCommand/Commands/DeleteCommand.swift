import PandoModels
import PandoStore

/// `pando delete`: deletes a node and tells what the cascade did.
enum DeleteCommand: Command {
  static let declaration = CommandDeclaration(
    name: "delete",
    summary: "delete a node, and print what the cascade did",
    positionals: [.store, Positional("ID", "the node's identifier")],
    options: [.json],
    notes: [
      """
      Prints a line for each node and collection concerned: deleted and updated with an \
      identifier, collection with a key. Parents that hold the node as an optional child lose it, \
      lists and collections lose the element, and a parent that requires it is deleted too. \
      Children of what is deleted stay.
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
      try await store.write { try $0.delete(identifier) }
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
  /// An array of texts.
  static func texts(_ texts: [String]) -> TreeValue { .array(texts.map { .string($0) }) }
}
