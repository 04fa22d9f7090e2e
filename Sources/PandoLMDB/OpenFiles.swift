import PandoSystem

/// The data files that are open in this process, by device and inode.
///
/// Closing a file drops every record lock the process holds on it, so a second handle on one file
/// would take the locks of the first one away when it ends.
enum OpenFiles {
  /// What makes two paths the same file.
  struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }

  /// The process that opened each file: what the parent opened is not open in a child.
  private static let open = Locked<[Identity: pid_t]>([:])

  /// Registers a file.
  ///
  /// - Throws: ``LMDBError`` with code `alreadyOpen` if it is registered.
  static func register(_ identity: Identity, path: String) throws(LMDBError) {
    let isNew = open.withLock { $0.updateValue(getpid(), forKey: identity) != getpid() }
    if !isNew { throw LMDBError(.alreadyOpen, function: "open", detail: path) }
  }

  /// Forgets a file.
  static func unregister(_ identity: Identity) {
    _ = open.withLock { $0.removeValue(forKey: identity) }
  }
}
