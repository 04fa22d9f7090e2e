import PandoModels
import PandoStore
import Synchronization

/// `pando load`: a dump becomes a store again.
enum LoadCommand: Command {
  static let declaration = CommandDeclaration(
    name: "load",
    summary: "store what `pando dump` printed",
    positionals: [.store, Positional("FILE|-", "a dump, or - for standard input")],
    options: [.json],
    examples: [
      .init("zcat tweets.gz | pando load tweets2 -", "a store from a backup"),
      .init("pando dump tweets | pando load tweets2 -", "a store without free pages or history"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let input = try Input(path: arguments[1])
    let reader = Mutex(LineReader(input))
    let bar = ProgressBar(
      "loading \(input.name)", counting: input.byteCount == nil ? "lines" : "bytes",
      of: input.byteCount)
    defer { bar.clear() }
    let startedAt = ContinuousClock.now
    let report = try await StoreAccess.create.open(arguments[0], for: declaration) { store in
      do {
        return try store.load {
          try reader.withLock { reader in
            guard let line = try reader.next() else { return nil }
            bar.advance(to: input.byteCount == nil ? reader.lineNumber : reader.byteCount)
            guard let text = String(validating: line, as: UTF8.self) else {
              throw CommandError(
                .badInput, at: "line \(reader.lineNumber)", "not UTF-8",
                remedy: "nothing was loaded")
            }
            return text
          }
        }
      } catch {
        throw CommandError(wrapping: error).placed(in: input.name)
      }
    }
    bar.clear()
    let duration = ContinuousClock.now - startedAt
    if arguments.has("--json") {
      let value: TreeValue = [
        "source": .string(input.name),
        "nodes": .integer(Int64(report.nodeCount)),
        "collections": .integer(Int64(report.collectionCount)),
        "seconds": .double(duration / .seconds(1)),
      ]
      try output.line(value.json(isPretty: true))
    } else {
      try output.line(
        "loaded \(input.name): \(Figures.count(report.nodeCount, "node")), "
          + "\(Figures.count(report.collectionCount, "collection")), "
          + Figures.duration(duration))
    }
  }
}
