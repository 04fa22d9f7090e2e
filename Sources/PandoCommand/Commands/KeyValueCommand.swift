import PandoLMDB
import PandoModels

/// `pando kv`: the plain tables of any LMDB environment.
enum KeyValueCommand: Command {
  static let declaration = CommandDeclaration(
    name: "kv",
    summary: "read and write the plain tables of an LMDB environment",
    positionals: [
      Positional("STORE", "the directory of the environment; any LMDB environment will do"),
      Positional("TABLE", "the table's name; '' is the unnamed one, whose keys are the tables"),
      Positional("ACTION", "get, put, delete or scan"),
      Positional("ARGUMENT", count: .any, "key and value; the value - is standard input"),
    ],
    options: [
      .flag("--hex", "keys and values are hexadecimal digits"),
      .value("--prefix", "P", "scan only keys that begin with P"),
      .value("--limit", "N", "scan at most N entries"),
      .flag("--reversed", "scan from the last key to the first"),
      .flag("--count", "scan prints how many entries there are"),
      .json,
    ],
    actions: [
      "STORE TABLE get KEY [--hex]",
      "STORE TABLE put KEY VALUE [--hex]",
      "STORE TABLE delete KEY [--hex]",
      "STORE TABLE scan [--prefix P] [--limit N] [--reversed] [--count] [--hex] [--json]",
    ],
    notes: [
      """
      get prints the value's bytes and a line feed. scan prints key, tab, value in key order; \
      bytes that are no text are shown as escapes, and exactly with --hex or --json ({"hex": \
      digits}). put creates environment and table when they are not there. The tables in which \
      Pando keeps models can be read and not written: their rows depend on each other.
      """
    ],
    examples: [
      .init("pando kv settings limits put retries 5", "one entry"),
      .init("pando kv settings limits scan", "all entries, one a line"),
      .init("pando kv tweets identifiers scan --limit 3 --hex", "looks into a store"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let codec = KeyValueCodec(isHex: arguments.has("--hex"))
    let rest = Array(arguments.positionals.dropFirst(3))
    if ["get", "put", "delete"].contains(arguments[2]) {
      try arguments.refuse(["--prefix", "--limit", "--reversed", "--count"], "is for scan")
    }
    do {
      try run(rest, codec, arguments, output)
    } catch let error as LMDBError {
      throw CommandError(wrapping: error, store: arguments[0])
    }
  }

  private static func run(
    _ rest: [String], _ codec: KeyValueCodec, _ arguments: ParsedArguments,
    _ output: StandardOutput
  ) throws {
    switch (arguments[2], rest.count) {
    case ("get", 1): try get(codec.bytes(rest[0], "KEY"), codec, arguments, output)
    case ("put", 2):
      let value =
        rest[1] == "-" ? try Input(path: "-").readAll() : try codec.bytes(rest[1], "VALUE")
      try put(value, forKey: codec.bytes(rest[0], "KEY"), arguments)
    case ("delete", 1): try delete(codec.bytes(rest[0], "KEY"), arguments)
    case ("scan", 0): try scan(codec, arguments, output)
    case ("get", _), ("delete", _): throw usage("\(arguments[2]) takes KEY")
    case ("put", _): throw usage("put takes KEY and VALUE")
    case ("scan", _): throw usage("scan takes options only, for example --prefix P")
    default: throw usage("“\(arguments[2])” is none of get, put, delete, scan")
    }
  }

  private static func usage(_ reason: String) -> CommandError {
    CommandError(.usage, reason, remedy: "see: pando kv --help")
  }

  private static func get(
    _ key: [UInt8], _ codec: KeyValueCodec, _ arguments: ParsedArguments,
    _ output: StandardOutput
  ) throws {
    let access = try KeyValueAccess(reading: arguments[0], arguments[1])
    defer { access.environment.close() }
    guard let value = try access.value(forKey: key) else {
      throw access.noKey(codec.text(key))
    }
    if arguments.has("--json") {
      try output.line(codec.json(value).json())
    } else if codec.isHex {
      try output.line(codec.text(value))
    } else {
      try output.write(value + [UInt8(ascii: "\n")])
    }
  }

  private static func put(
    _ value: [UInt8], forKey key: [UInt8], _ arguments: ParsedArguments
  ) throws {
    let access = try KeyValueAccess(
      writing: arguments[0], arguments[1], creating: true)
    defer { access.environment.close() }
    let table = access.table
    try access.environment.write { transaction in
      try transaction.put(value.span, forKey: key.span, in: table)
    }
  }

  private static func delete(_ key: [UInt8], _ arguments: ParsedArguments) throws {
    let access = try KeyValueAccess(writing: arguments[0], arguments[1], creating: false)
    defer { access.environment.close() }
    let table = access.table
    let wasThere = try access.environment.write { transaction in
      try transaction.delete(key: key.span, in: table)
    }
    guard wasThere else {
      throw access.noKey(KeyValueCodec(isHex: arguments.has("--hex")).text(key))
    }
  }

  private static func scan(
    _ codec: KeyValueCodec, _ arguments: ParsedArguments, _ output: StandardOutput
  ) throws {
    let prefix = try codec.bytes(arguments.value("--prefix") ?? "", "--prefix")
    let limit = try arguments.count("--limit") ?? .max
    let (isJSON, isCount) = (arguments.has("--json"), arguments.has("--count"))
    let access = try KeyValueAccess(reading: arguments[0], arguments[1])
    defer { access.environment.close() }
    var list = ListOutput(output, asJSON: isJSON)
    var count = 0
    if limit > 0 {
      try access.forEach(prefix: prefix, isReversed: arguments.has("--reversed")) { key, value in
        count += 1
        if isJSON, !isCount {
          try list.write(
            value: ["key": codec.json(key), "value": codec.json(value)])
        } else if !isCount {
          try output.line("\(codec.text(key))\t\(codec.text(value))")
        }
        return count < limit
      }
    }
    if isCount {
      let value: TreeValue = ["count": .integer(Int64(count))]
      try output.line(isJSON ? value.json() : String(count))
    } else {
      try list.end()
    }
  }
}
