import CPandoLMDB

/// A transaction of a ``PageFixture``, and what tests do in it.
struct PageFixtureTransaction {
  let handle: OpaquePointer

  var id: UInt64 { UInt64(mdb_txn_id(handle)) }

  func table(_ name: String?, flags: Int32 = MDB_CREATE) throws -> MDB_dbi {
    var table: MDB_dbi = 0
    // The main table exists; it takes no flag for creation.
    let given = name == nil ? flags & ~MDB_CREATE : flags
    try PageFixture.require(mdb_dbi_open(handle, name, UInt32(given), &table), "mdb_dbi_open")
    return table
  }

  func put(_ value: [UInt8], forKey key: [UInt8], in table: MDB_dbi, flags: Int32 = 0) throws {
    try withValue(key) { key in
      try withValue(value) { value in
        try PageFixture.require(mdb_put(handle, table, &key, &value, UInt32(flags)), "mdb_put")
      }
    }
  }

  /// Deletes a key, or one of its values; that it is not there is no error.
  func delete(_ key: [UInt8], value: [UInt8]? = nil, in table: MDB_dbi) throws {
    let code = withValue(key) { key in
      guard let value else { return mdb_del(handle, table, &key, nil) }
      return withValue(value) { mdb_del(handle, table, &key, &$0) }
    }
    if code != MDB_NOTFOUND { try PageFixture.require(code, "mdb_del") }
  }

  func statistics(of table: MDB_dbi) throws -> MDB_stat {
    var statistics = MDB_stat()
    try PageFixture.require(mdb_stat(handle, table, &statistics), "mdb_stat")
    return statistics
  }

  /// All entries, by cursor.
  func entries(in table: MDB_dbi) throws -> [PageFixtureEntry] {
    var cursor: OpaquePointer?
    try PageFixture.require(mdb_cursor_open(handle, table, &cursor), "mdb_cursor_open")
    defer { mdb_cursor_close(cursor) }
    var entries: [PageFixtureEntry] = []
    var (key, value) = (MDB_val(), MDB_val())
    while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS {
      entries.append(PageFixtureEntry(key: bytes(key), value: bytes(value)))
    }
    return entries
  }

  private func bytes(_ value: MDB_val) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
  }

  private func withValue<Result>(
    _ bytes: [UInt8], _ body: (inout MDB_val) throws -> Result
  ) rethrows -> Result {
    var bytes = bytes
    return try bytes.withUnsafeMutableBytes {
      var value = MDB_val(mv_size: $0.count, mv_data: $0.baseAddress)
      return try body(&value)
    }
  }
}
