import PandoLMDB
import PandoModels
import PandoRecords
import Synchronization

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
      .assumingNoWriter,
      .flag("--hex", "keys and values are hexadecimal digits"),
      .value("--prefix", "P", "scan only keys that begin with P"),
      .value("--limit", "N", "scan at most N entries"),
      .flag("--reversed", "scan from the last key to the first"),
      .flag("--count", "scan prints how many entries there are"),
    ] + Option.lists,
    actions: [
      "STORE TABLE get KEY [--hex]",
      "STORE TABLE put KEY VALUE [--hex]",
      "STORE TABLE delete KEY [--hex]",
      "STORE TABLE scan [--prefix P] [--limit N] [--reversed] [--count] [--hex] [--format FORMAT]",
    ],
    notes: [
      """
      get prints the value's bytes and a line feed. scan prints key, tab and value in key order. \
      It prints bytes that are no text as escapes, and exactly with --hex or --json ({"hex": \
      digits}). put creates a missing environment and a missing table. Pando's own tables of \
      models can be read but not written, because their rows depend on each other.
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
      try arguments.refuse(
        ["--prefix", "--limit", "--reversed", "--count", "--format", "--no-header", "--null"],
        "is for scan")
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
    let form = try ListForm(arguments)
    let isCount = arguments.has("--count")
    let access = try KeyValueAccess(reading: arguments[0], arguments[1])
    defer { access.environment.close() }
    var list = ListOutput(output, form, columns: ["key", "value"])
    var count = 0
    if limit > 0 {
      try access.forEach(prefix: prefix, isReversed: arguments.has("--reversed")) { key, value in
        count += 1
        if isCount { return count < limit }
        if form.format == .line {
          try output.line("\(codec.text(key))\t\(codec.text(value))")
        } else {
          try list.write(row: [codec.json(key), codec.json(value)])
        }
        return count < limit
      }
    }
    if isCount { try output.write(count: count, form) } else { try list.end() }
  }
}

/// One table of an environment, opened for one run of the command.
struct KeyValueAccess {
  let environment: Environment
  let table: RawTable
  private let path: String
  private let tableName: String

  /// Opens a table for reading; environment and table must exist.
  ///
  /// - Throws: A ``CommandError`` with ``ExitCode/notThere`` if one is missing.
  init(reading path: String, _ tableName: String) throws {
    try StoreAccess.requireStore(at: path)
    try self.init(path, tableName, isReadOnly: true, creating: false)
  }

  /// Opens a table for writing.
  ///
  /// - Throws: A ``CommandError`` if the table is one of Pando's own.
  init(writing path: String, _ tableName: String, creating: Bool) throws {
    if !creating { try StoreAccess.requireStore(at: path) }
    try self.init(path, tableName, isReadOnly: false, creating: creating)
  }

  private init(
    _ path: String, _ tableName: String, isReadOnly: Bool, creating: Bool
  ) throws {
    self.path = path
    self.tableName = tableName
    SignalLine.prepare(for: "pando kv", path: path)
    var configuration = Environment.Configuration()
    configuration.isReadOnly = isReadOnly
    configuration.assumingNoWriter = StoreAccess.assumesNoWriter.load(ordering: .relaxed)
    environment = try Environment(path: path, configuration: configuration)
    do {
      if !isReadOnly { try KeyValueAccess.refuseOwnTable(tableName, in: environment, path) }
      table = try environment.rawTable(tableName.isEmpty ? nil : tableName, create: creating)
    } catch let error as LMDBError where error.code == .notFound {
      environment.close()
      throw CommandError(
        .notThere, at: path, "there is no table \(tableName)",
        remedy: "list them with: pando kv \(path) '' scan")
    } catch {
      environment.close()
      throw error
    }
  }

  /// The tables of models.
  static let ownTableNames = [
    "meta", "identifiers", "types", "nodes", "nodesByType", "parents", "collections",
    "collectionNames", "elements", "changes", "indexes", "indexRows",
  ]

  /// In a store, refuses tables with dependent rows, and the table that lists the tables.
  private static func refuseOwnTable(
    _ name: String, in environment: Environment, _ path: String
  ) throws {
    guard name.isEmpty || ownTableNames.contains(name) else { return }
    let tables = try environment.rawTable(nil, create: false)
    let isStore = try environment.read { snapshot in
      try ownTableNames.allSatisfy { try snapshot.contains(key: Array($0.utf8).span, in: tables) }
    }
    guard isStore else { return }
    let table = name.isEmpty ? "the unnamed table" : name
    throw CommandError(
      .usage, at: path, "\(table) is a table of Pando's own, whose rows depend on each other",
      remedy: "change models with pando set and pando delete")
  }

  /// Returns the error for a missing key.
  func noKey(_ key: String) -> CommandError {
    CommandError(.notThere, at: path, "there is no key \(key) in table \(tableName)")
  }

  /// Returns a copy of the value under a key.
  func value(forKey key: [UInt8]) throws -> [UInt8]? {
    try environment.read { snapshot in
      guard let value = try snapshot.bytes(forKey: key.span, in: table) else { return nil }
      return KeyValueAccess.copy(value)
    }
  }

  /// Calls a closure with copies of keys and values until it returns `false`.
  func forEach(
    prefix: [UInt8], isReversed: Bool, _ body: ([UInt8], [UInt8]) throws -> Bool
  ) throws {
    try environment.read { snapshot in
      try snapshot.scan(table, prefix: prefix, reversed: isReversed) { key, value in
        try body(KeyValueAccess.copy(key), KeyValueAccess.copy(value))
      }
    }
  }

  private static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(bytes.count)
    for index in bytes.indices { copy.append(bytes[index]) }
    return copy
  }
}

/// The notation of keys and values on the command line: text, or hexadecimal digits.
struct KeyValueCodec: Sendable {
  /// Whether bytes are written as hexadecimal digits.
  let isHex: Bool

  /// Returns the bytes of a text.
  ///
  /// - Throws: A usage error that names the argument if the text is no hexadecimal number.
  func bytes(_ text: String, _ name: String) throws(CommandError) -> [UInt8] {
    guard isHex else { return Array(text.utf8) }
    let digits = Array(text.utf8)
    var bytes: [UInt8] = []
    guard digits.count.isMultiple(of: 2) else { throw notHex(text, name) }
    for index in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
      // The parser would accept a sign as part of a number.
      guard !pair.hasPrefix("+"), !pair.hasPrefix("-"), let byte = UInt8(pair, radix: 16) else {
        throw notHex(text, name)
      }
      bytes.append(byte)
    }
    return bytes
  }

  /// Returns bytes as text, with escapes for control characters and invalid UTF-8; or as two
  /// hexadecimal digits each.
  func text(_ bytes: [UInt8]) -> String {
    if isHex { return bytes.map(KeyValueCodec.digits).joined() }
    if let text = String(validating: bytes, as: UTF8.self) { return text.escapingControlCharacters }
    var text = ""
    var decoder = UTF8()
    var rest = bytes[...]
    while !rest.isEmpty {
      var iterator = rest.makeIterator()
      decoder = UTF8()
      if case .scalarValue(let scalar) = decoder.decode(&iterator) {
        text += String(Character(scalar)).escapingControlCharacters
        rest.removeFirst(UTF8.width(scalar))
      } else {
        text += "\\x" + KeyValueCodec.digits(rest.removeFirst())
      }
    }
    return text
  }

  /// Returns bytes as a lossless JSON value: text, or hexadecimal digits, in an object unless all
  /// bytes are written in hexadecimal.
  func json(_ bytes: [UInt8]) -> TreeValue {
    if !isHex, let text = String(validating: bytes, as: UTF8.self) { return .string(text) }
    let digits = TreeValue.string(bytes.map(KeyValueCodec.digits).joined())
    return isHex ? digits : ["hex": digits]
  }

  private static func digits(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }

  private func notHex(_ text: String, _ name: String) -> CommandError {
    CommandError(
      .usage, "\(name) “\(text)” is not hexadecimal",
      remedy: "give two digits for each byte, or leave out --hex")
  }
}
