import PandoSystem
import CPandoLMDB

extension Environment {
  /// Frees the slots of readers whose process has died.
  ///
  /// Such a slot keeps the file from reusing the pages of its version. It is done at each open, when
  /// the slots run out, and by the writer about once a second.
  ///
  /// - Returns: How many slots were freed.
  /// - Note: LMDB: `mdb_reader_check`.
  @discardableResult
  public func clearStaleReaders() -> Int {
    guard (try? checkProcess("clearStaleReaders")) != nil, let ticket = try? readers.enter() else {
      return 0
    }
    defer { readers.leave(ticket) }
    guard let environment = unsafe pointer else { return 0 }
    return unsafe clearStaleReaders(in: environment)
  }

  /// Frees stale slots about once a second; the writer lock is held.
  ///
  /// While the slot of a dead reader stands, no page that was freed since is used again, and every
  /// commit makes the file larger.
  func clearStaleReadersNowAndThen() {
    let now = ContinuousClock.now
    guard unsafe now - staleReaderCheck >= .seconds(1), let environment = unsafe pointer else {
      return
    }
    unsafe staleReaderCheck = now
    _ = unsafe clearStaleReaders(in: environment)
  }

  /// Frees stale slots and tells of it; the caller is a reader or holds the writer lock.
  func clearStaleReaders(in environment: OpaquePointer) -> Int {
    var count: CInt = 0
    let status = unsafe mdb_reader_check(environment, &count)
    guard status == 0, count > 0 else { return 0 }
    configuration.onEvent?(.staleReadersCleared(count: Int(count)))
    return Int(count)
  }

  /// Flushes what earlier commits left to the system.
  ///
  /// Of use with a durability below `full`.
  ///
  /// - Throws: ``LMDBError`` with code `failedFlush`; no writes after that until reopened.
  /// - Note: LMDB: `mdb_env_sync`.
  public func sync() throws(LMDBError) {
    try checkProcess("sync")
    let ticket = try readers.enter()
    defer { readers.leave(ticket) }
    let status = unsafe mdb_env_sync(try openPointer("mdb_env_sync"), 1)
    guard status != 0 else { return }
    let cause = LMDBError.Code(rawValue: status)
    guard cause != .readOnly else { throw LMDBError(cause, function: "mdb_env_sync") }
    let refusal = LMDBError(
      .failedFlush, function: "mdb_env_sync", detail: cause.explanation)
    writeRefusal.withLock { $0 = refusal }
    configuration.onEvent?(.writesRefused)
    throw refusal
  }
}
