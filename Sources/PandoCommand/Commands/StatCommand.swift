import PandoModels
import PandoStore

/// `pando stat`: sizes and state of a store.
enum StatCommand: Command {
  static let declaration = CommandDeclaration(
    name: "stat",
    summary: "print what is in a store and how large it is",
    positionals: [.store],
    options: [.json],
    examples: [.init("pando stat tweets", "nodes, records by type, bytes, readers, commits")])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let statistics = try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.statistics()
    }
    if arguments.has("--json") {
      try output.line(value(statistics).json(isPretty: true))
    } else {
      for line in lines(statistics) { try output.line(line) }
    }
  }

  private static func lines(_ statistics: StoreStatistics) -> [String] {
    var table = TextTable([.left, .right])
    table.row("commit", Figures.count(statistics.commitNumber))
    table.row("commits in the change log", Figures.count(statistics.changeLogCount))
    table.row("nodes", Figures.count(statistics.nodeCount))
    for (typeName, count) in statistics.recordCounts.sorted(by: { $0.key < $1.key }) {
      table.row("records of \(typeName)", Figures.count(count))
    }
    table.row("edges", Figures.count(statistics.edgeCount))
    table.row("collections", Figures.count(statistics.collectionCount))
    table.row("file", Figures.bytes(statistics.fileSizeInBytes))
    table.row("used", Figures.bytes(statistics.usedSizeInBytes))
    table.row("map", Figures.bytes(statistics.mapSizeInBytes))
    table.row(
      "readers", "\(statistics.readerCount) of \(Figures.count(statistics.readerCountMaximum))")
    if let age = statistics.oldestReaderAgeInSeconds {
      table.row("oldest reader", Figures.duration(.seconds(age)))
    }
    table.row("format", String(statistics.formatVersion))
    table.row("store", statistics.storeIdentifier)
    return table.lines
  }

  private static func value(_ statistics: StoreStatistics) -> TreeValue {
    let records = statistics.recordCounts.mapValues { TreeValue.integer(Int64($0)) }
    return [
      "commit": TreeValue(exactly: statistics.commitNumber) ?? .null,
      "changeLogCommits": .integer(Int64(statistics.changeLogCount)),
      "nodes": .integer(Int64(statistics.nodeCount)),
      "records": .object(records),
      "edges": .integer(Int64(statistics.edgeCount)),
      "collections": .integer(Int64(statistics.collectionCount)),
      "fileBytes": .integer(Int64(statistics.fileSizeInBytes)),
      "usedBytes": .integer(Int64(statistics.usedSizeInBytes)),
      "mapBytes": .integer(Int64(statistics.mapSizeInBytes)),
      "readers": .integer(Int64(statistics.readerCount)),
      "maximumReaders": .integer(Int64(statistics.readerCountMaximum)),
      "oldestReaderSeconds": statistics.oldestReaderAgeInSeconds.map { .double($0) } ?? .null,
      "formatVersion": .integer(Int64(statistics.formatVersion)),
      "store": .string(statistics.storeIdentifier),
    ]
  }
}
