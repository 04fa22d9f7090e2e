import CPandoLMDB
import PandoSystem

extension Environment {
  /// The address space in use up to which a map has the requested size: half of the 128 TiB of a
  /// process on common processors.
  private static let ampleAddressSpace = 64 << 40
  /// The largest initial map beyond that, unless the file is larger; about 16 000 of these fit.
  private static let smallMapSizeInBytes = 4 << 30

  /// Creates the folder unless it exists.
  ///
  /// - Returns: Whether this call created it.
  @discardableResult
  static func createFolder(_ path: String) throws(LMDBError) -> Bool {
    if retryInterrupted({ unsafe mkdir(path, 0o700) }) == 0 { return true }
    guard errno == EEXIST else { throw .system("mkdir", path) }
    return false
  }

  /// The files of an environment.
  enum Location {
    /// A folder with a data file and a lock file.
    case folder(String)
    /// A data file without a name, and the table that replaces its lock file.
    case memory(descriptor: CInt, ReaderTable)
  }

  /// Opens LMDB's environment, with a map of the configured size or the size in the file.
  ///
  /// A file from a larger machine may request a map that does not fit here; liblmdb maps at least
  /// its pages. If many open stores use much address space, the map begins small and grows when it
  /// is full.
  ///
  /// - Parameters:
  ///   - location: The files.
  ///   - configuration: The settings.
  ///   - mapSizeInBytes: The map size in the file.
  ///   - dataSizeInBytes: The size of the file.
  /// - Returns: The environment, and the number of the last commit from its lock file.
  /// - Throws: ``LMDBError`` with the system's code.
  static func makePointer(
    _ location: Location, _ configuration: Configuration, mapSizeInBytes: Int, dataSizeInBytes: Int
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
    let signal: CommitSignal? =
      switch location {
      case .folder(let path):
        try LockFile.reserve(
          in: path, maximumReaders: configuration.maximumReaders, mode: configuration.fileMode)
      case .memory(_, let table): CommitSignal(table)
      }
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
      try unsafe open(environment, location, configuration)
    } catch {
      unsafe mdb_env_close(environment)
      throw error
    }
    return unsafe (environment, signal)
  }

  private static func open(
    _ environment: OpaquePointer, _ location: Location, _ configuration: Configuration
  ) throws(LMDBError) {
    let mode = configuration.fileMode
    switch location {
    case .folder(let path):
      try check(
        unsafe mdb_env_open(environment, path, configuration.flags, mode), "mdb_env_open", path)
    case .memory(let descriptor, let table):
      // The number of the open file replaces its name.
      let path = "/proc/self/fd/\(descriptor)"
      let flags = configuration.flags | UInt32(MDB_NOSUBDIR | MDB_NOLOCK)
      try check(
        unsafe mdb_env_open(environment, path, flags, mode), "mdb_env_open",
        "\(DataFile.memoryName), by \(path)")
      try unsafe table.attach(to: environment, descriptor: descriptor)
    }
    // liblmdb 0.9 does not set this flag for the data file: a program that this process runs would inherit it.
    var opened: CInt = -1
    if unsafe mdb_env_get_fd(environment, &opened) == 0 {
      _ = fcntl(opened, F_SETFD, FD_CLOEXEC)
    }
  }
}

extension Environment {
  /// Whether a folder has no data file with a commit: no file, an empty one, or one from an
  /// interrupted creation.
  ///
  /// - Parameter path: The folder.
  /// - Returns: Whether opening it for writing creates a new file.
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

  /// Stops the process for impossible limits.
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
