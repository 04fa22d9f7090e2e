import PandoLMDB

/// One table of an environment, opened for one run of the command.
struct KeyValueAccess {
  let environment: Environment
  let table: RawTable
  private let path: String
  private let tableName: String

  /// Opens a table for reading; environment and table must be there.
  ///
  /// - Throws: A ``CommandError`` with ``ExitCode/notThere`` when one is not.
  init(reading path: String, _ tableName: String) throws {
    try StoreAccess.requireStore(at: path)
    try self.init(path, tableName, isReadOnly: true, creating: false)
  }

  /// Opens a table for writing.
  ///
  /// - Throws: A ``CommandError`` when the table is one of Pando's own.
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

  /// The tables in which Pando keeps models.
  static let ownTableNames = [
    "meta", "identifiers", "types", "nodes", "nodesByType", "parents", "collections",
    "collectionNames", "elements", "changes", "indexes", "indexRows",
  ]

  /// Refuses tables whose rows depend on each other, and the table that lists them, in a store.
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

  /// A key that is not in the table.
  func noKey(_ key: String) -> CommandError {
    CommandError(.notThere, at: path, "there is no key \(key) in table \(tableName)")
  }

  /// A copy of the value under a key.
  func value(forKey key: [UInt8]) throws -> [UInt8]? {
    try environment.read { snapshot in
      guard let value = try snapshot.bytes(forKey: key.span, in: table) else { return nil }
      return KeyValueAccess.copy(value)
    }
  }

  /// Calls a closure with copies of keys and values until it returns false.
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
