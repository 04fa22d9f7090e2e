import PandoSystem

extension Environment {
  /// The text for the path of an environment in memory.
  package static var memoryName: String { DataFile.memoryName }

  /// Opens an environment in memory, over a file without a name.
  ///
  /// It belongs to this process, needs no folder and leaves no file. Closing it releases its pages. All operations work,
  /// within the same limits: a write that needs more than `maximumMapSizeInBytes` throws `mapFull`.
  ///
  /// - Parameter configuration: The settings. Without a disk and other processes, `durability` is always `unsynchronized`,
  ///   and `isReadOnly` and `assumingNoWriter` are always false.
  /// - Returns: The environment, empty.
  /// - Throws: ``LMDBError`` with the system's code; `versionMismatch` if liblmdb is not of version 0.9.
  /// - Precondition: The sizes and limits of `configuration` are above zero.
  package static func inMemory(
    configuration: Configuration = Configuration()
  ) throws(LMDBError) -> Environment {
    try Environment(inMemory: DataFile(inMemory: ()), configuration.inMemory)
  }

  /// Opens an environment in memory with a copy of the newest version of another one.
  ///
  /// - Parameters:
  ///   - source: The other environment.
  ///   - configuration: The settings.
  ///   - check: Checks the pages of the copy before their first use.
  /// - Returns: The environment.
  /// - Throws: As ``inMemory(configuration:)`` and ``copy(to:compacting:)``; an error of `check`.
  /// - Precondition: The calling thread is not inside a write of `source`.
  package static func inMemory(
    copyOf source: Environment, configuration: Configuration,
    checking check: (PageWalker) throws -> Void
  ) throws -> Environment {
    try source.checkProcess("copy")
    precondition(
      !source.isWritingOnThisThread,
      "copy inside a write of the same environment: it would wait for itself")
    let file = try DataFile(inMemory: ())
    _ = try source.write(
      to: file.descriptor, false, { _ in true }, detail: DataFile.memoryName)
    try check(PageWalker(file.descriptor, path: DataFile.memoryName))
    return try Environment(inMemory: file, configuration.inMemory)
  }
}

extension Environment.Configuration {
  /// The same for an environment in memory.
  fileprivate var inMemory: Self {
    var configuration = self
    configuration.durability = .unsynchronized
    configuration.isReadOnly = false
    configuration.assumingNoWriter = false
    return configuration
  }
}
