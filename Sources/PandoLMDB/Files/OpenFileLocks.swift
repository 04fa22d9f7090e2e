import PandoSystem

/// Locks of an open file (`F_OFD_SETLK`) on bytes far beyond its end, which liblmdb does not lock.
///
/// The kernel releases them when the last descriptor of the open file is closed: at any death of a
/// process, in any PID namespace. Closing another descriptor of the file does not release them.
enum OpenFileLocks {
  /// Commands of `fcntl`, declared with `_GNU_SOURCE` only; the same on all of Linux.
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

  /// Takes or releases a lock.
  ///
  /// - Parameters:
  ///   - byte: The byte.
  ///   - type: `F_WRLCK`, `F_RDLCK` or `F_UNLCK`.
  ///   - descriptor: The open file; `F_WRLCK` needs write access.
  ///   - waits: Whether to wait for conflicting locks.
  /// - Returns: `false` on a conflict, or if the file system has no such locks.
  @discardableResult
  static func set(_ byte: Int, _ type: CInt, of descriptor: CInt, waits: Bool = true) -> Bool {
    var range = range(byte..<byte + 1, type)
    let command = waits ? Command.setAndWait : Command.set
    return retryInterrupted { unsafe fcntl(descriptor, command, &range) } == 0
  }

  /// Whether another open file, of any process, has a lock on any of the bytes.
  static func areHeldElsewhere(_ bytes: Range<Int>, of descriptor: CInt) -> Bool {
    var range = range(bytes, F_WRLCK)
    return unsafe fcntl(descriptor, Command.get, &range) == 0 && range.l_type != Int16(F_UNLCK)
  }
}
