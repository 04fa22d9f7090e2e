import PandoLMDB
import PandoModels
import PandoRecords
import PandoStore

/// `pando estimate`: the size of a store that does not exist yet.
enum EstimateCommand: Command {
  static let declaration = CommandDeclaration(
    name: "estimate",
    summary: "estimate the size of a store from the shape of its nodes, or from a smaller store",
    positionals: [Positional("STORE", count: .optional, "a smaller store of the same types")],
    options: [
      .value("--nodes", "N", "the number of nodes to estimate"),
      .value("--bytes", "N", "the bytes of a record, about its JSON (200)"),
      .value("--key", "N", "the bytes of an identifier (16)"),
      .value("--children", "N", "how many nodes a node contains (0)"),
      .value("--index", "N", repeats: true, "an index whose values have N bytes"),
      .assumingNoWriter, .json,
    ],
    notes: [
      """
      Without STORE the command makes a temporary store of this shape with up to 20 000 nodes, \
      measures its pages, and removes it. With STORE it reads the pages of that store, which needs \
      at least 1 000 nodes.
      """,
      """
      The size has no free pages. A store in use has some, and more while a long read keeps old \
      versions.
      """,
    ],
    examples: [
      .init("pando estimate --nodes 5000000 --bytes 300 --children 2 --index 8", "by shape"),
      .init("pando estimate tweets --nodes 5000000", "by a store with a sample of the data"),
    ])

  /// The number of nodes of a store below which full pages say too little.
  private static let measuredCountMinimum = 1000

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    guard arguments.value("--nodes") != nil else {
      throw CommandError(.usage, "--nodes is missing", remedy: "see: pando estimate --help")
    }
    let nodeCount = try number("--nodes", arguments, in: 1...1_000_000_000_000, unless: 1)
    let estimate =
      if let path = arguments.optional(0) {
        try await measured(path, scaledTo: nodeCount, arguments)
      } else {
        try await shape(arguments).estimate(nodeCount: nodeCount)
      }
    if arguments.has("--json") {
      try output.line(value(estimate).json(isPretty: true))
    } else {
      for line in lines(estimate) { try output.line(line) }
    }
  }

  private static func measured(
    _ path: String, scaledTo nodeCount: Int, _ arguments: ParsedArguments
  ) async throws -> StoreEstimate {
    try arguments.refuse(
      ["--bytes", "--key", "--children", "--index"], "describes a shape, without STORE")
    return try await StoreAccess.read.open(path, for: declaration) { store in
      let count = try store.statistics().nodeCount
      guard count >= measuredCountMinimum else {
        throw CommandError(
          .notThere, at: path, "the store has \(Figures.count(count, "node")), too few to scale",
          remedy: "store at least \(Figures.count(measuredCountMinimum))")
      }
      return StoreEstimate(
        try PageWalker(path: path).verify(), of: count, scaledTo: nodeCount)
    }
  }

  private static func shape(_ arguments: ParsedArguments) throws(CommandError) -> ShapeSample {
    var shape = ShapeSample()
    shape.recordByteCount = try number(
      "--bytes", arguments, in: 1...(1 << 20), unless: shape.recordByteCount)
    shape.identifierByteCount = try number(
      "--key", arguments, in: 8...400, unless: shape.identifierByteCount)
    shape.childCount = try number(
      "--children", arguments, in: 0...100, unless: shape.childCount)
    for text in arguments.values("--index") {
      shape.indexes.append(try number(text, called: "--index", in: 1...400))
    }
    return shape
  }

  /// The value of an option, or the default if it was not given.
  private static func number(
    _ name: String, _ arguments: ParsedArguments, in range: ClosedRange<Int>, unless other: Int
  ) throws(CommandError) -> Int {
    guard let text = arguments.value(name) else { return other }
    return try number(text, called: name, in: range)
  }

  private static func number(
    _ text: String, called name: String, in range: ClosedRange<Int>
  ) throws(CommandError) -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw CommandError(
        .usage,
        "\(name) takes a number from \(range.lowerBound) to \(range.upperBound), not “\(text)”")
    }
    return number
  }

  private static func lines(_ estimate: StoreEstimate) -> [String] {
    var table = TextTable([.left, .right])
    table.row("a node", Figures.bytes(Int(estimate.byteCountPerNode.rounded())))
    for part in estimate.parts where part.byteCountPerNode >= 0.5 {
      table.row("  \(part.table)", Figures.bytes(Int(part.byteCountPerNode.rounded())))
    }
    table.row("change log", Figures.bytes(estimate.changeLogByteCount))
    table.row("file", Figures.bytes(estimate.byteCount))
    table.row("disk, with room for a copy", Figures.bytes(2 * estimate.byteCount))
    table.row("memory, if all of it is cached", Figures.bytes(estimate.byteCount))
    return table.lines
  }

  private static func value(_ estimate: StoreEstimate) -> TreeValue {
    let parts = estimate.parts.map { ($0.table, TreeValue.double($0.byteCountPerNode)) }
    return [
      "nodes": .integer(Int64(estimate.nodeCount)),
      "bytesPerNode": .double(estimate.byteCountPerNode),
      "tables": .object(Dictionary(uniqueKeysWithValues: parts)),
      "changeLogBytes": .integer(Int64(estimate.changeLogByteCount)),
      "fileBytes": .integer(Int64(estimate.byteCount)),
    ]
  }
}
