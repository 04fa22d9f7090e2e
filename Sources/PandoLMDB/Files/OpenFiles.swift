import PandoSystem

/// The data files that are open in this process, by device and inode.
///
/// Closing a file drops all record locks of the process on it, so a second handle would drop the
/// locks of the first.
enum OpenFiles {
  /// Two paths with the same identity are the same file.
  struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }

  /// The process that opened each file: a file of the parent is not open in a child.
  private static let open = Locked<[Identity: pid_t]>([:])

  /// Registers a file.
  ///
  /// - Throws: ``LMDBError`` with code `alreadyOpen` if it is registered.
  static func register(_ identity: Identity, path: String) throws(LMDBError) {
    let isNew = open.withLock { $0.updateValue(getpid(), forKey: identity) != getpid() }
    if !isNew { throw LMDBError(.alreadyOpen, function: "open", detail: path) }
  }

  /// Removes a file.
  static func unregister(_ identity: Identity) {
    _ = open.withLock { $0.removeValue(forKey: identity) }
  }
}

/// Detects, with one load from memory, whether this process is a forked child.
///
/// A page with `MADV_WIPEONFORK` reads as zero in a child. LMDB 0.9 does not check the process, and
/// a child that uses its parent's environment corrupts the lock table.
enum ForkGuard {
  /// A byte that is 1 in this process and 0 in its children; `nil` without kernel support.
  ///
  /// Written once, before it is shared.
  nonisolated(unsafe) private static let flag: UnsafePointer<UInt8>? = unsafe makeFlag()

  /// The identity of this process, for a later comparison.
  static func currentProcess() -> pid_t {
    _ = unsafe flag
    return getpid()
  }

  /// Whether this is the process that ``currentProcess()`` returned.
  @inline(__always)
  static func isStillRunning(in process: pid_t) -> Bool {
    if let flag = unsafe flag, unsafe flag.pointee == 1 { return true }
    return getpid() == process
  }

  private static func makeFlag() -> UnsafePointer<UInt8>? {
    let byteCount = Int(sysconf(Int32(_SC_PAGESIZE)))
    let page = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let page = unsafe page, unsafe page != MAP_FAILED else { return nil }
    guard unsafe madvise(page, byteCount, MADV_WIPEONFORK) == 0 else {
      unsafe munmap(page, byteCount)
      return nil
    }
    let flag = unsafe page.assumingMemoryBound(to: UInt8.self)
    unsafe flag.pointee = 1
    return unsafe UnsafePointer(flag)
  }
}
