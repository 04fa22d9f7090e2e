import Glibc
import Synchronization

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

  private static let open = Mutex<Set<Identity>>([])

  /// Registers a file.
  ///
  /// - Throws: ``LMDBError`` with code `alreadyOpen` if it is registered.
  static func register(_ identity: Identity, path: String) throws(LMDBError) {
    let isNew = open.withLock { $0.insert(identity).inserted }
    if !isNew { throw LMDBError(.alreadyOpen, function: "open", detail: path) }
  }

  /// Forgets a file.
  static func unregister(_ identity: Identity) {
    _ = open.withLock { $0.remove(identity) }
  }
}
