import PandoSystem
import PandoModels
import PandoStore

/// `pando copy`: a backup while others read and write.
enum CopyCommand: Command {
  static let declaration = CommandDeclaration(
    name: "copy",
    summary: "copy a store, also while other processes use it",
    positionals: [.store, Positional("DEST", "a directory that does not exist, or is empty")],
    options: [.flag("--compact", "leave free pages out"), .json],
    examples: [.init("pando copy tweets backup --compact", "a copy as small as it can be")])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let (path, destination) = (arguments[0], arguments[1])
    guard !StoreAccess.hasStore(at: destination) else {
      throw CommandError(
        .failure, at: destination, "there is a store already", remedy: "give another directory")
    }
    let startedAt = ContinuousClock.now
    try await StoreAccess.read.open(path, for: declaration) { store in
      try store.copy(to: destination, compacting: arguments.has("--compact"))
    }
    let duration = ContinuousClock.now - startedAt
    let byteCount = size(of: destination + "/data.mdb")
    if arguments.has("--json") {
      let value: TreeValue = [
        "destination": .string(destination), "bytes": .integer(Int64(byteCount)),
        "seconds": .double(duration / .seconds(1)),
      ]
      try output.line(value.json(isPretty: true))
    } else {
      try output.line(
        "copied \(path) to \(destination), \(Figures.bytes(byteCount)), "
          + Figures.duration(duration))
    }
  }

  private static func size(of path: String) -> Int {
    var status = stat()
    // `status` is a plain C struct that the call fills.
    return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
