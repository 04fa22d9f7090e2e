import PandoSystem

/// Locks of an open file (`F_OFD_SETLK`) on bytes far beyond its end, where liblmdb has none.
///
/// The kernel frees them when the last descriptor of the open file is closed: at any death of a process, in any PID
/// namespace. Closing another descriptor of the same file does not drop them.
enum OpenFileLocks {
  /// Commands of `fcntl`, which the C library shows with `_GNU_SOURCE` only; the same on all of Linux.
  private enum Command {
    static let get: CInt = 36
    static let set: CInt = 37
    static let setAndWait: CInt = 38
  }

  private static func range(_ bytes: Range<Int>, _ type: CInt) -> flock {
    var range = flock()
    range.l_type = Int16(type)
    range.l_whence = Int16(SEEK_SET)
    range.l_start = (1 << 62) + bytes.lowerBound
    range.l_len = bytes.count
    return range
  }

  /// Takes a lock, or gives it back.
  ///
  /// - Parameters:
  ///   - byte: Which one.
  ///   - type: `F_WRLCK`, `F_RDLCK` or `F_UNLCK`.
  ///   - descriptor: The open file; for `F_WRLCK` it may be written to.
  ///   - waits: Whether to wait until nobody has a lock that forbids it.
  /// - Returns: `false` if another open file has such a lock, or the file system has no such locks.
  @discardableResult
  static func set(_ byte: Int, _ type: CInt, of descriptor: CInt, waits: Bool = true) -> Bool {
    var range = range(byte..<byte + 1, type)
    let command = waits ? Command.setAndWait : Command.set
    return retryInterrupted { unsafe fcntl(descriptor, command, &range) } == 0
  }

  /// Whether another open file, of whatever process, has a lock on one of some bytes.
  static func areHeldElsewhere(_ bytes: Range<Int>, of descriptor: CInt) -> Bool {
    var range = range(bytes, F_WRLCK)
    return unsafe fcntl(descriptor, Command.get, &range) == 0 && range.l_type != Int16(F_UNLCK)
  }
}
