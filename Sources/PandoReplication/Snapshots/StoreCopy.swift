import PandoLMDB
import PandoStore
import PandoSystem

/// A copy of a store in a folder of its own, before it goes into a log or after it was read from one.
///
/// A folder has one copy at a time; another copy waits until it is removed.
struct StoreCopy {
  let path: String
  private let lock: CopyLock
  /// The position up to which the copied store had applied its log.
  let row: ReplicationRow

  /// Copies a store, without the rows that belong to it alone.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - path: The folder; the remains of an earlier copy are removed.
  ///   - goesOn: Called repeatedly; `false` cancels the copy.
  /// - Throws: `LMDBError`; ``StoreError``, `closed` if the copy was cancelled.
  init(
    of store: ModelStore, in path: String, while goesOn: @escaping () -> Bool = { true }
  ) throws {
    self.path = path
    lock = try CopyLock(path)
    Self.clear(path)
    do {
      let whole = "\(path)/whole"
      guard try store.copy(to: whole, compacting: true, progress: { _, _ in goesOn() }) else {
        throw StoreError(.closed, path, "the copy was cancelled, because the store is being closed")
      }
      var kept = whole
      if try Self.removeOwnRows(of: whole) {
        // Free pages still have the contents of the removed rows.
        kept = "\(path)/shared"
        let environment = try Environment(path: whole)
        defer { environment.close() }
        try environment.copy(to: kept, compacting: true)
      }
      try Self.check(unsafe rename("\(kept)/data.mdb", Self.file(path)), path)
      row = try Self.row(of: path)
    } catch {
      Self.clear(path)
      lock.end()
      throw error
    }
  }

  /// Reads the newest copy of a log, and checks that it is complete; `nil` if the log has none.
  ///
  /// - Parameters:
  ///   - log: The log.
  ///   - path: The folder; the remains of an earlier copy are removed.
  ///   - isLookedAt: Whether the checksum and the pages are checked; tests turn the checks off to show that they need
  ///     them.
  /// - Throws: ``LogFault``; ``StoreError`` `damaged`; `LMDBError`.
  init?(
    from log: any ReplicationLog, in path: String,
    isLookedAt: Bool = true
  ) throws {
    self.path = path
    lock = try CopyLock(path)
    Self.clear(path)
    do {
      guard try Self.download(log, to: path, isLookedAt: isLookedAt) else {
        Self.clear(path)
        lock.end()
        return nil
      }
      let report =
        isLookedAt ? try ModelStore.verify(path: path) : nil
      if let report, !report.isClean {
        throw StoreError(
          .damaged, path,
          "the copy in the log is damaged: \(report.problems.first.map { "\($0)" } ?? "")")
      }
      row = try Self.row(of: path)
    } catch {
      Self.clear(path)
      lock.end()
      throw error
    }
  }

  func remove() {
    Self.clear(path)
    lock.end()
  }

  private static func download(
    _ log: any ReplicationLog, to path: String, isLookedAt: Bool
  ) throws -> Bool {
    let descriptor = retryInterrupted {
      unsafe PandoSystem.open(file(path), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    }
    try check(descriptor, path)
    defer { PandoSystem.close(descriptor) }
    let position = try log.readSnapshot { part in
      var start = 0
      while start < part.count {
        let count = unsafe part.withUnsafeBytes { bytes in
          retryInterrupted {
            unsafe PandoSystem.write(
              descriptor, bytes.baseAddress.map { unsafe $0 + start }, part.count - start)
          }
        }
        try check(count <= 0 ? -1 : 0, path)
        start += count
      }
    }
    guard position != nil else { return false }
    try CopyTrailer.remove(from: descriptor, path, isLookedAt: isLookedAt)
    try check(retryInterrupted { fsync(descriptor) }, path)
    return true
  }

  /// Calls a closure that reads the parts of the copy, the last of them a ``CopyTrailer``.
  ///
  /// - Parameter body: Receives a closure that returns the next part, and `nil` at the end.
  /// - Throws: The system's error; errors of `body`.
  func reading(_ body: (() throws -> [UInt8]?) throws -> Void) throws {
    let descriptor = retryInterrupted {
      unsafe PandoSystem.open(Self.file(path), O_RDONLY | O_CLOEXEC)
    }
    try Self.check(descriptor, path)
    defer { PandoSystem.close(descriptor) }
    var (offset, isOver, trailer) = (0, false, CopyTrailer())
    try body {
      if isOver { return nil }
      let part = try CopyTrailer.read(
        descriptor, at: offset, count: CopyTrailer.blockByteCount, path)
      isOver = part.isEmpty
      if isOver { return trailer.bytes }
      offset += part.count
      trailer.add(part)
      return part
    }
  }

  /// Runs a closure with the copy opened for reading.
  func opened<Result>(_ body: (ModelStore) throws -> Result) throws -> Result {
    let store = try makeStore()
    defer { store.close() }
    return try body(store)
  }

  /// Opens the copy for reading; the caller closes it.
  func makeStore() throws -> ModelStore {
    var configuration = ModelStore.Configuration()
    configuration.isReadOnly = true
    return try ModelStore(path: path, configuration: configuration)
  }

  /// Makes the copy the store of a folder without a store.
  ///
  /// - Parameter folder: The folder, on the same disk. If the call creates it and then fails, the call removes it
  ///   again.
  /// - Returns: `false` if the folder got a store meanwhile; that store stays.
  /// - Throws: The system's error.
  func become(_ folder: String) throws -> Bool {
    try Self.giveIdentifier(path)
    let hasMadeFolder = unsafe mkdir(folder, 0o700) == 0
    if !hasMadeFolder { try Self.makeFolder(folder) }
    if renameUnlessTaken(Self.file(path), Self.file(folder)) != 0 {
      let code = errno
      if hasMadeFolder { unsafe rmdir(folder) }
      if code == EEXIST { return false }
      errno = code
      try Self.check(-1, folder)
    }
    try Self.flush(folder)
    remove()
    return true
  }

  // MARK: Rows

  /// Stores the position at which the log of a store begins again.
  ///
  /// No process may have the store open.
  static func setRow(_ row: ReplicationRow, of path: String) throws {
    let chains = [(row.position - 1, EntryChain()), (row.position, row.chain)].map {
      (key: ChainRows.key($0), bytes: ChainRows.bytes($1))
    }
    try writing(path) { environment in
      let meta = try environment.rawTable("meta", create: false)
      try environment.write { transaction in
        var old: [[UInt8]] = []
        try transaction.snapshot.scan(meta, prefix: ChainRows.prefix) { key, _ in
          old.append(Array(copying: key))
          return true
        }
        for key in old { try transaction.delete(key: key.span, in: meta) }
        for row in chains { try transaction.put(row.bytes.span, forKey: row.key.span, in: meta) }
        try row.beginAgain(in: &transaction, meta: meta, path: path)
      }
    }
  }

  private static func row(of path: String) throws -> ReplicationRow {
    let row = try writing(path) { environment in
      let meta = try environment.rawTable("meta", create: false)
      return try environment.read { snapshot -> ReplicationRow? in
        let key = ReplicationRow.key
        guard let bytes = try snapshot.bytes(forKey: key.span, in: meta) else { return nil }
        return try ReplicationRow(bytes)
      }
    }
    guard let row else { throw StoreError(.replicated, path, "the copy follows no log") }
    return row
  }

  /// Gives a copy an identifier of its own, so that it is another store.
  private static func giveIdentifier(_ path: String) throws {
    let key = SharedRows.countersKey
    try writing(path) { environment in
      let meta = try environment.rawTable("meta", create: false)
      let found = try environment.read { snapshot -> [UInt8]? in
        guard let bytes = try snapshot.bytes(forKey: key.span, in: meta) else { return nil }
        return Array(copying: bytes)
      }
      guard var bytes = found else { return }
      try environment.write { transaction in
        for index in SharedRows.identifierRange { bytes[index] = UInt8.random(in: 0...255) }
        try transaction.put(bytes.span, forKey: key.span, in: meta)
      }
    }
  }

  /// Removes the rows that belong to one store alone: properties, requests, cursors, other tables.
  ///
  /// - Returns: Whether there were such rows.
  private static func removeOwnRows(of path: String) throws -> Bool {
    try writing(path) { environment in
      let unnamed = try environment.rawTable(nil)
      var names: [[UInt8]] = []
      try environment.read { snapshot in
        try snapshot.scan(unnamed) { key, _ in
          let name = Array(copying: key)
          if !SharedRows.tables.contains(String(decoding: name, as: UTF8.self)) {
            names.append(name)
          }
          return true
        }
      }
      let meta = try environment.rawTable("meta", create: false)
      let kept = SharedRows.metaKeys + [SharedRows.countersKey]
      // A row of the unnamed table need not be a table.
      let tables = names.map { name in
        (name, try? environment.rawTable(String(decoding: name, as: UTF8.self), create: false))
      }
      return try environment.write { transaction in
        for (name, table) in tables {
          if let table {
            try transaction.removeAll(in: table)
          } else {
            try transaction.delete(key: name.span, in: unnamed)
          }
        }
        var keys: [[UInt8]] = []
        try transaction.snapshot.scan(meta) { key, _ in
          let key = Array(copying: key)
          if !kept.contains(key), !SharedRows.metaPrefixes.contains(where: key.starts(with:)) {
            keys.append(key)
          }
          return true
        }
        for key in keys { try transaction.delete(key: key.span, in: meta) }
        return !names.isEmpty || !keys.isEmpty
      }
    }
  }

  private static func writing<Result>(
    _ path: String, _ body: (Environment) throws -> Result
  ) throws -> Result {
    var configuration = Environment.Configuration()
    configuration.maximumTables = 4096
    let environment = try Environment(path: path, configuration: configuration)
    defer { environment.close() }
    return try body(environment)
  }

  // MARK: Files

  static func file(_ path: String) -> String { "\(path)/data.mdb" }

  /// Whether a folder has a store.
  static func isThere(_ path: String) -> Bool { unsafe access(file(path), F_OK) == 0 }

  static func makeFolder(_ path: String) throws {
    if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { try check(-1, path) }
  }

  /// Removes the contents of a folder of copies.
  private static func clear(_ path: String) {
    let inner = ["\(path)/whole", "\(path)/shared"]
    for folder in inner + [path] {
      for name in ["data.mdb", "data.mdb.partial", "lock.mdb"] {
        unsafe unlink("\(folder)/\(name)")
      }
    }
    for folder in inner { unsafe rmdir(folder) }
  }

  private static func flush(_ folder: String) throws {
    let descriptor = retryInterrupted {
      unsafe PandoSystem.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    try check(descriptor, folder)
    defer { PandoSystem.close(descriptor) }
    try check(retryInterrupted { fsync(descriptor) }, folder)
  }

  static func check(_ result: CInt, _ path: String) throws {
    if result >= 0 { return }
    let reason = unsafe String(cString: strerror(errno))
    throw StoreError(.engine, path, "a copy of a store can't be stored here: \(reason)")
  }

  /// Folders inside that of the store.
  static func outgoing(_ path: String) -> String { "\(path)/snapshot" }
  static func incoming(_ path: String) -> String { "\(path)/joining" }
}
