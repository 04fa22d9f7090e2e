import PandoLMDB

extension ModelStore {
  /// Reads one committed version.
  ///
  /// - Parameter body: Gets the snapshot of the newest commit; it can't keep it.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `LMDBError` when no reader slot is free or the store is closed.
  /// - Complexity: A fraction of a microsecond around `body`.
  /// - Note: Any thread; never waits for a writer. A snapshot that is held for long makes the file
  ///   grow, because the pages it sees can't be used again.
  public func read<Result>(_ body: (ModelSnapshot) throws -> Result) throws -> Result {
    try core.environment.read { snapshot in
      let reader = StoreReader(
        snapshot, tables: core.tables, directory: core.directory, pending: nil)
      return try body(ModelSnapshot(reader, path: core.path))
    }
  }
}
