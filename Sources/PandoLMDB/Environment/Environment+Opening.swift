import CPandoLMDB
import PandoSystem

extension Environment {
  /// Up to so much address space in use a map is as large as it was asked for: half of the 128 TiB that a
  /// process has on common processors.
  private static let ampleAddressSpace = 64 << 40
  /// How large a map begins beyond that, at most, unless the file is large: some 16 000 of these fit.
  private static let smallMapSizeInBytes = 4 << 30

  /// Creates the folder unless it is there.
  ///
  /// - Returns: Whether this call has made it.
  @discardableResult
  static func createFolder(_ path: String) throws(LMDBError) -> Bool {
    if retryInterrupted({ unsafe mkdir(path, 0o700) }) == 0 { return true }
    guard errno == EEXIST else { throw .system("mkdir", path) }
    return false
  }

  /// Opens LMDB's environment, with a map of the configured size or what the file asks for.
  ///
  /// A file that was made where there is more room may ask for more than fits here; liblmdb takes as much
  /// as its pages need anyway. Where the process has much address space in use, because it has many stores
  /// open, the map begins small, and grows when it is full.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - configuration: How to open it.
  ///   - mapSizeInBytes: What the file asks for.
  ///   - dataSizeInBytes: The size of the file.
  /// - Returns: The environment, and the number of the last commit as its lock file has it.
  /// - Throws: ``LMDBError`` with the system's code.
  static func makePointer(
    _ path: String, _ configuration: Configuration, mapSizeInBytes: Int, dataSizeInBytes: Int
  ) throws(LMDBError) -> (environment: OpaquePointer, signal: CommitSignal?) {
    var size = configuration.mapSizeInBytes.roundedUpToPage
    if size == configuration.maximumMapSizeInBytes.roundedUpToPage {
      size = Self.mapLimitInBytes(configuration)
    }
    if mapSizeInBytes > size, (try? checkAddressSpace(mapSizeInBytes)) != nil {
      size = mapSizeInBytes
    }
    if size <= Self.ampleAddressSpace, let used = addressSpaceInUse(),
      used > Self.ampleAddressSpace
    {
      size = min(size, max(Self.smallMapSizeInBytes, 2 * dataSizeInBytes).roundedUpToPage)
    }
    try checkAddressSpace(size)
    let signal = try LockFile.reserve(
      in: path, maximumReaders: configuration.maximumReaders, mode: configuration.fileMode)
    var environment: OpaquePointer?
    try check(unsafe mdb_env_create(&environment), "mdb_env_create")
    guard let environment = unsafe environment else {
      preconditionFailure("a created environment is not nil")
    }
    do {
      try check(unsafe mdb_env_set_mapsize(environment, size), "mdb_env_set_mapsize")
      try check(
        unsafe mdb_env_set_maxdbs(environment, UInt32(configuration.maximumTables)),
        "mdb_env_set_maxdbs")
      try check(
        unsafe mdb_env_set_maxreaders(environment, UInt32(configuration.maximumReaders)),
        "mdb_env_set_maxreaders")
      try check(
        unsafe mdb_env_open(environment, path, configuration.flags, configuration.fileMode),
        "mdb_env_open", path)
    } catch {
      unsafe mdb_env_close(environment)
      throw error
    }
    return unsafe (environment, signal)
  }
}

extension Environment {
  /// Whether a folder has no data file with a commit: none, an empty one, or one whose making was cut
  /// short.
  ///
  /// - Parameter path: The folder.
  /// - Returns: Whether opening it for writing makes a new file.
  package static func isUnmade(path: String) -> Bool {
    var status = stat()
    guard unsafe stat("\(path)/\(DataFile.name)", &status) == 0 else { return errno == ENOENT }
    return DataFile.isUnfinished(folder: path)
  }
}

extension Environment.Configuration {
  /// LMDB's flags; read transactions are never bound to threads.
  fileprivate var flags: UInt32 {
    var flags = MDB_NOTLS
    if isReadOnly { flags |= MDB_RDONLY }
    switch durability {
    case .full: break
    case .consistent: flags |= MDB_NOMETASYNC
    case .relaxed, .unsynchronized: flags |= MDB_NOSYNC
    }
    return UInt32(flags)
  }

  /// Stops the process for limits that make no sense.
  func checkLimits() {
    precondition(mapSizeInBytes > 0, "mapSizeInBytes is \(mapSizeInBytes)")
    precondition(
      maximumMapSizeInBytes >= mapSizeInBytes,
      "maximumMapSizeInBytes \(maximumMapSizeInBytes) is below mapSizeInBytes \(mapSizeInBytes)")
    precondition(maximumTables > 0, "maximumTables is \(maximumTables)")
    precondition(maximumReaders > 0, "maximumReaders is \(maximumReaders)")
    precondition(
      readerTimeoutInSeconds >= 0, "readerTimeoutInSeconds is \(readerTimeoutInSeconds)")
    precondition(maximumIdleReaders >= 0, "maximumIdleReaders is \(maximumIdleReaders)")
    if let interval = checkpointInterval {
      precondition(
        interval > .zero && interval <= Checkpointer.intervalMax,
        "an interval of \(interval); it is above zero and at most \(Checkpointer.intervalMax)")
    }
    precondition(
      mapGrowthTimeoutInSeconds >= 0, "mapGrowthTimeoutInSeconds is \(mapGrowthTimeoutInSeconds)")
  }
}
