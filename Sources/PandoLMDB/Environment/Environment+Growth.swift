import CPandoLMDB
import PandoSystem

extension Environment {
  /// The size of the map; the caller is a reader or holds the writer lock.
  func mapSizeInBytes() throws(LMDBError) -> Int {
    var info = unsafe MDB_envinfo()
    let environment = try unsafe openPointer("mdb_env_info")
    try check(unsafe mdb_env_info(environment, &info), "mdb_env_info")
    return unsafe info.me_mapsize
  }

  /// Whether the map may grow; the writer lock is held.
  var canGrow: Bool {
    guard let size = try? mapSizeInBytes() else { return false }
    return size < Self.mapLimitInBytes(configuration)
  }

  /// Doubles the map, up to its limit; the writer lock is held and no transaction is open.
  func growMap() throws(LMDBError) {
    let size = try mapSizeInBytes()
    let maximum = configuration.maximumMapSizeInBytes.roundedUpToPage
    let target = size > maximum / 2 ? Self.mapLimitInBytes(configuration) : size * 2
    try Self.checkAddressSpace(target)
    try remap(to: target)
  }

  /// Adopts the map size that another process has set; the caller has left the readers.
  func adoptMapOfOtherProcess() throws(LMDBError) {
    // A caller that holds the writer lock or reads on this thread would wait for itself.
    guard !readers.isReadingOnThisThread, !writer.isHeldByThisThread else {
      throw mapInUse("another process grew the map, and this thread still reads the old one")
    }
    do {
      try writer.withLock("read") { try remap(to: 0) }
    } catch let error as LMDBError {
      throw error
    } catch {
      preconditionFailure("only LMDBError is thrown")
    }
  }

  /// Maps the file again while no reader is inside; the writer lock is held.
  ///
  /// - Parameter size: The new size; 0 for the size that another process has set.
  /// - Throws: ``LMDBError`` with code `mapInUse` if readers do not finish in time.
  func remap(to size: Int) throws(LMDBError) {
    guard !readers.isReadingOnThisThread else {
      throw mapInUse("this thread is inside a read that would lose the map it reads from")
    }
    let environment = try unsafe openPointer("mdb_env_set_mapsize")
    let timeout = configuration.mapGrowthTimeoutInSeconds
    let drain = try readers.whileEmpty(timeoutInSeconds: timeout) { () throws(LMDBError) in
      unsafe mapNumber &+= 1
      let status = unsafe mdb_env_set_mapsize(environment, size)
      guard status == 0 else {
        // liblmdb has already unmapped the old map, so nothing can be read from it.
        try reopen()
        throw LMDBError(
          LMDBError.Code(rawValue: status), function: "mdb_env_set_mapsize", detail: "\(size) bytes"
        )
      }
    }
    guard drain == .drained else {
      throw mapInUse("\(readers.activeCount()) readers did not end within \(timeout) seconds")
    }
    configuration.onEvent?(.mapGrown(sizeInBytes: try mapSizeInBytes()))
  }

  /// Makes sure that a map of some size fits into the address space.
  ///
  /// This is first, because liblmdb unmaps the old map before it maps the new one. Into a new file,
  /// it writes the size before it maps that.
  static func checkAddressSpace(_ size: Int) throws(LMDBError) {
    let probe = unsafe mmap(
      nil, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard let probe = unsafe probe, unsafe probe != MAP_FAILED else {
      throw .system("mmap", "a map of \(size) bytes")
    }
    unsafe munmap(probe, size)
  }

  private func mapInUse(_ detail: String) -> LMDBError {
    LMDBError(.mapInUse, function: "mdb_env_set_mapsize", detail: detail)
  }
}
