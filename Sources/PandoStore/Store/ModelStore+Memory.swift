extension ModelStore {
  /// Opens an empty store in memory: the same engine without a file.
  ///
  /// ```swift
  /// let store = try ModelStore.inMemory()
  /// try store.write { try $0.set(message) }
  /// try store.copy(to: "saved")
  /// ```
  ///
  /// The store needs no folder, and other processes can't open it. It ends with `close()`, with its last reference or
  /// with the process, and leaves no file. `maximumMapSizeInBytes` limits its memory: a write that needs more throws
  /// `LMDBError` `mapFull`. Two stores in memory share nothing. Errors name such a store `in memory`.
  ///
  /// Use ``init(path:models:configuration:)`` for data that must outlive the process. Use ``temporary(models:configuration:)`` for tests
  /// with several processes or with a disk.
  ///
  /// - Parameters:
  ///   - models: The model types of the program, as in ``init(path:models:configuration:)``.
  ///   - configuration: The settings. A store in memory has no disk and no other process, so it ignores `durability`,
  ///     `assumingNoWriter` and `followsOtherProcesses`.
  /// - Returns: The store.
  /// - Throws: ``StoreError`` `readOnly` if `configuration` sets `isReadOnly`, or an error of
  ///   ``init(path:models:configuration:)``; `LMDBError` if the system has no memory, address space or descriptor left, and
  ///   with code `versionMismatch` if liblmdb is not of version 0.9.
  /// - Complexity: O(1), a few system calls. An open store uses three descriptors.
  /// - Note: Any thread. Needs Linux 3.17 and `/proc`.
  public static func inMemory(
    models: [any SimpleModel.Type] = [], configuration: Configuration = Configuration()
  ) throws -> ModelStore {
    try ModelStore(.memory(copyOf: nil), models: models, configuration: configuration)
  }

  /// Opens a store in memory that begins as a copy of another store.
  ///
  /// ```swift
  /// let filled = try ModelStore(path: "fixture")
  /// let store = try ModelStore.inMemory(copyOf: filled)  // a test may write to its own copy
  /// ```
  ///
  /// The copy has the newest commit of the store, its change log and its identifier. A later write to one of them does not
  /// change the other. Readers and writers of `store` continue during the copy.
  ///
  /// - Parameters:
  ///   - store: The store, in a folder or in memory; it may be closed afterwards.
  ///   - models: The model types of the program, as in ``init(path:models:configuration:)``.
  ///   - configuration: The settings of the copy, as for ``inMemory(models:configuration:)``. Migrations run in the copy.
  /// - Returns: The copy.
  /// - Throws: As ``inMemory(models:configuration:)``; ``StoreError`` `closed` if `store` is closed, `damaged` if its pages are
  ///   damaged.
  /// - Complexity: O(size of the file); the copy is in memory.
  /// - Precondition: The calling thread is not inside a write of `store`.
  public static func inMemory(
    copyOf store: ModelStore, models: [any SimpleModel.Type] = [],
    configuration: Configuration = Configuration()
  ) throws -> ModelStore {
    try ModelStore(.memory(copyOf: store), models: models, configuration: configuration)
  }
}
