import CPandoLMDB
import PandoSystem

extension Environment {
  /// Opens a table of bytes, in a transaction of its own.
  ///
  /// Open all tables right after the environment: a transaction that began before a table was
  /// opened can't use it. Opening the same name again returns the same table.
  ///
  /// - Parameters:
  ///   - name: The table's name, 1 to 511 bytes; `nil` for the unnamed table, which always exists
  ///     and which also lists the named ones.
  ///   - create: Whether to create the table if it does not exist.
  /// - Returns: The table.
  /// - Throws: ``LMDBError`` with code `notFound` if it does not exist and `create` is `false`,
  ///   `tooManyTables` above `maximumTables`, `incompatibleTable` if its flags differ.
  /// - Complexity: O(*t*) for *t* open tables if it is open. Else O(log *n*) for *n* tables of the
  ///   file, the wait for the write under way, and a commit if the table is created.
  /// - Precondition: The calling thread is not inside a write of this environment.
  public func rawTable(_ name: String?, create: Bool = true) throws(LMDBError) -> RawTable {
    try checkProcess("rawTable")
    if let name, name.isEmpty || name.utf8.count > keyByteCountMax {
      throw LMDBError(
        .badKeySize, function: "mdb_dbi_open", detail: "a table name has 1 to 511 bytes")
    }
    if let open = tables.withLock({ $0.number(of: name) }) {
      return RawTable(number: open, environment: number)
    }
    do {
      let table = try writer.withLock("rawTable") { try openTable(name, create: create) }
      return RawTable(number: table, environment: number)
    } catch let error as LMDBError {
      throw error
    } catch {
      preconditionFailure("only LMDBError is thrown")
    }
  }

  /// Opens a table in a transaction of its own; the writer lock is held.
  private func openTable(_ name: String?, create: Bool) throws -> MDB_dbi {
    if let open = tables.withLock({ $0.number(of: name) }) { return open }
    let table: MDB_dbi
    // Opening an existing table needs no commit.
    switch Result(catching: { () throws(LMDBError) in try openExistingTable(name) }) {
    case .success(let existing): table = existing
    case .failure(let error):
      guard error.code == .notFound, create, !configuration.isReadOnly else { throw error }
      table = try createTable(name)
    }
    tables.withLock { $0.opened.append((name, table)) }
    return table
  }

  private func openExistingTable(_ name: String?) throws(LMDBError) -> MDB_dbi {
    while true {
      let ticket = try readers.enter()
      let result = Result { () throws(LMDBError) in
        try unsafe openExistingTable(name, in: openPointer("mdb_dbi_open"))
      }
      readers.leave(ticket)
      if case .failure(let error) = result, error.code == .mapResized {
        try remap(to: 0)
      } else {
        return try result.get()
      }
    }
  }

  /// Opens a table in a read transaction; its commit publishes the number to all transactions.
  private func openExistingTable(
    _ name: String?, in environment: OpaquePointer
  ) throws(LMDBError) -> MDB_dbi {
    var transaction: OpaquePointer?
    let status = unsafe namespaces.beginReader(environment, &transaction)
    if status != 0 { throw readError(status) }
    guard let transaction = unsafe transaction else {
      preconditionFailure("a begun transaction is not nil")
    }
    let table: MDB_dbi
    do {
      table = try unsafe Self.openTable(name, flags: 0, in: transaction)
    } catch {
      unsafe mdb_txn_abort(transaction)
      throw error
    }
    try check(unsafe mdb_txn_commit(transaction), "mdb_txn_commit")
    return table
  }

  private func createTable(_ name: String?) throws -> MDB_dbi {
    var result: MDB_dbi?
    while true {
      let done: Bool? = try writeOnce { transaction in
        result = try unsafe Self.openTable(
          name, flags: UInt32(MDB_CREATE), in: transaction.handle.transaction)
        return true
      }
      if done != nil, let result { return result }
    }
  }

  private static func openTable(
    _ name: String?, flags: UInt32, in transaction: OpaquePointer
  ) throws(LMDBError) -> MDB_dbi {
    var table = MDB_dbi()
    try check(
      unsafe mdb_dbi_open(transaction, name, flags, &table), "mdb_dbi_open", name ?? "unnamed table"
    )
    var actual: UInt32 = 0
    try check(unsafe mdb_dbi_flags(transaction, table, &actual), "mdb_dbi_flags")
    guard actual == 0 else {
      throw LMDBError(
        .incompatibleTable, function: "mdb_dbi_open",
        detail: "\(name ?? "the unnamed table") was made with flags \(actual)")
    }
    return table
  }

  /// Opens all tables again with the same numbers.
  func reopenTables(in environment: OpaquePointer) throws(LMDBError) {
    for (name, number) in tables.withLock({ $0.opened }) {
      let again = try unsafe openExistingTable(name, in: environment)
      precondition(again == number, "tables opened in the same order have the same numbers")
    }
  }
}

extension Environment {
  /// Opens a typed table, and creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - name: The table's name, 1 to 511 bytes; `nil` for the unnamed table.
  ///   - keys: The codec of the keys.
  ///   - values: The codec of the values.
  ///   - create: Whether to create the table if it does not exist.
  /// - Returns: The table.
  /// - Throws: ``LMDBError``, as ``rawTable(_:create:)``.
  /// - Complexity: As ``rawTable(_:create:)``.
  /// - Precondition: The calling thread is not inside a write of this environment.
  public func table<Key, Value>(
    _ name: String?, keys: TableCodec<Key>, values: TableCodec<Value>, create: Bool = true
  ) throws(LMDBError) -> Table<Key, Value> {
    Table(try rawTable(name, create: create), keys: keys, values: values)
  }
}

/// The tables that an environment has opened.
struct TableRegistry {
  /// The names in the order of opening, and LMDB's number of each; `nil` is the unnamed table.
  var opened: [(name: String?, number: MDB_dbi)] = []

  /// The number of an open table.
  func number(of name: String?) -> MDB_dbi? {
    opened.first { $0.name == name }?.number
  }
}
