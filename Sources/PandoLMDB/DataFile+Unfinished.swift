import PandoSystem

/// Files whose making was cut short, by a full disk or a power cut.
///
/// liblmdb writes both meta pages of a new file with one call, before anything else. If only a part
/// of that reaches the file, liblmdb refuses it from then on, although nothing can be in it.
extension DataFile {
  /// What file systems and disks write whole; a file of another size was cut off by somebody.
  private static let sectorSize: UInt64 = 512

  /// Whether a file is what the making of one can leave: two meta pages at most, each absent, empty, cut
  /// short or as it is first written, and so without any commit.
  ///
  /// - Parameter folder: The folder of the environment.
  /// - Returns: Whether nothing can be in it.
  static func isUnfinished(folder: String) -> Bool {
    guard let file = try? PageFile(environment: folder) else { return false }
    let pageSize = UInt64(1.roundedUpToPage)
    let size = file.sizeInBytes
    guard size <= PageFormat.metaPageCount * pageSize, size % sectorSize == 0 else { return false }
    return (0..<PageFormat.metaPageCount).allSatisfy { index in
      // What lies beyond the end stays zero.
      let buffer = PageBuffer(byteCount: PageFormat.metaByteCount)
      if case .failed = file.read(PageFormat.metaByteCount, at: index * pageSize, into: buffer) {
        return false
      }
      let page = MetaRecord(index: Int(index), PageBytes(buffer.bytes))
      return [0, index].contains(page.headerPageNumber)
        && [0, PageFormat.Flags.meta].contains(page.headerFlags)
        && [0, PageFormat.magic].contains(page.magic)
        && [0, PageFormat.version].contains(page.version) && page.transactionID == 0
    }
  }

  /// Makes an unfinished file empty, unless somebody has it open, who may be making it.
  ///
  /// Whoever has an environment open holds a lock on the first byte of its lock file. This process
  /// has not, or its locks would be lost here: ``OpenFiles`` sees to that.
  ///
  /// - Parameters:
  ///   - folder: The folder of the environment.
  ///   - mode: The permissions of a new lock file.
  /// - Returns: Whether the file is empty now.
  func discardUnfinished(folder: String, mode: UInt32) -> Bool {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC
    let lockFile = retryInterrupted { unsafe open("\(folder)/\(LockFile.name)", flags, mode) }
    guard lockFile >= 0 else { return false }
    defer { close(lockFile) }
    var range = flock()
    range.l_type = Int16(F_WRLCK)
    range.l_whence = Int16(SEEK_SET)
    range.l_len = 1
    guard retryInterrupted({ unsafe fcntl(lockFile, F_SETLK, &range) }) == 0,
      Self.isUnfinished(folder: folder)
    else { return false }
    return retryInterrupted { ftruncate(descriptor, 0) } == 0
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
