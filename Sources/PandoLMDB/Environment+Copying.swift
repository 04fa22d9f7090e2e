import CPandoLMDB
import PandoSystem

extension Environment {
  /// Copies the newest committed version into another folder, while readers and writers go on.
  ///
  /// The copy is flushed, and appears under its name only when it is whole. While it is made it
  /// counts as a reader: pages freed meanwhile are not used again, and the map can't grow.
  ///
  /// - Parameters:
  ///   - path: A folder without a data file; created with mode 0700 if absent.
  ///   - compacting: Whether to leave free pages out and write the pages in order; slower, smaller.
  /// - Throws: ``LMDBError`` with code `fileExists` if the folder has a data file, else the error
  ///   of the system; a copy that failed is removed.
  /// - Precondition: The calling thread is not inside a write of this environment.
  /// - Note: LMDB: `mdb_env_copyfd2`.
  public func copy(to path: String, compacting: Bool = false) throws(LMDBError) {
    try checkProcess("copy")
    precondition(
      !isWritingOnThisThread,
      "copy inside a write of the same environment: it would wait for itself")
    try Self.createFolder(path)
    let target = "\(path)/\(DataFile.name)"
    let partial = "\(target).partial"
    guard unsafe access(target, F_OK) != 0 else {
      throw LMDBError(.fileExists, function: "copy", detail: target)
    }
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
    let descriptor = retryInterrupted { unsafe Glibc.open(partial, flags, configuration.fileMode) }
    guard descriptor >= 0 else { throw .system("open", partial) }
    do throws(LMDBError) {
      defer { Glibc.close(descriptor) }
      try write(to: descriptor, compacting: compacting, detail: partial)
      if fsync(descriptor) != 0 { throw LMDBError.system("fsync", partial) }
      if unsafe rename(partial, target) != 0 { throw LMDBError.system("rename", target) }
      try Self.flushNames(in: path)
    } catch {
      unsafe unlink(partial)
      throw error
    }
  }

  private func write(
    to descriptor: CInt, compacting: Bool, detail: String
  ) throws(LMDBError) {
    while true {
      let ticket = try readers.enter()
      let environment = unsafe pointer
      var status = LMDBError.Code.closed.rawValue
      if let environment = unsafe environment {
        status = unsafe mdb_env_copyfd2(
          environment, descriptor, compacting ? UInt32(MDB_CP_COMPACT) : 0)
      }
      readers.leave(ticket)
      guard status == MDB_MAP_RESIZED else {
        return try check(status, "mdb_env_copyfd2", detail)
      }
      try adoptMapOfOtherProcess()
      if ftruncate(descriptor, 0) != 0 || lseek(descriptor, 0, SEEK_SET) != 0 {
        throw .system("ftruncate", detail)
      }
    }
  }
}
