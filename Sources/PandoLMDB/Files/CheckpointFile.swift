import PandoSystem

/// The file beside a data file with the last version whose pages are all on the disk.
final class CheckpointFile: Sendable {
  static let name = "checkpoint.mdb"

  private let file: Descriptor

  private var descriptor: CInt { file.number }

  /// Opens the file.
  ///
  /// A new file exists, with its name on the disk, when this returns.
  ///
  /// - Parameters:
  ///   - folder: The folder of the environment.
  ///   - makes: Whether to create it.
  ///   - isReadOnly: Whether it is only read.
  ///   - mode: The permissions of a new file without a data file.
  /// - Returns: The file; `nil` if it does not exist and `makes` is `false`.
  /// - Throws: ``LMDBError`` with the system's code.
  static func open(
    folder: String, makes: Bool, isReadOnly: Bool = false, mode: UInt32
  ) throws(LMDBError) -> CheckpointFile? {
    let path = "\(folder)/\(name)"
    let descriptor =
      makes
      ? openBesideData(name, in: folder, mode: mode)
      : retryInterrupted {
        unsafe PandoSystem.open(path, (isReadOnly ? O_RDONLY : O_RDWR) | O_CLOEXEC)
      }
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .system("open", path)
    }
    let file = CheckpointFile(descriptor: descriptor)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .system("fstat", path) }
    if makes, status.st_size < 2 * CheckpointSlot.byteCount {
      do {
        try writeAll(
          [UInt8](repeating: 0, count: 2 * CheckpointSlot.byteCount), to: descriptor, at: 0)
      } catch  where error.code == .diskFull {
        throw LMDBError(
          .diskFull, function: "pwrite",
          detail: "\(path) can't be made; open at another durability to make room")
      }
      try flushAll(descriptor)
      try DataFile.flushNames(in: folder)
    }
    return file
  }

  private init(descriptor: CInt) { file = Descriptor(descriptor) }

  /// Closes the file; no other thread uses it.
  func close() { file.close() }

  /// The newest slot; `nil` if none was ever written.
  func newest() -> CheckpointSlot? {
    let slots = (0..<2).compactMap { index -> CheckpointSlot? in
      let count = CheckpointSlot.byteCount
      return readAll(count, from: descriptor, at: index * count).flatMap { CheckpointSlot($0.span) }
    }
    return slots.max { $0.sequence < $1.sequence }
  }

  /// Overwrites the older slot, and flushes it; the caller holds the lock of checkpoints.
  ///
  /// - Parameters:
  ///   - slot: The slot; this method sets its sequence number.
  ///   - newest: The newest slot in the file.
  /// - Throws: ``LMDBError`` with the system's code.
  func write(_ slot: CheckpointSlot, after newest: CheckpointSlot?) throws(LMDBError) {
    var slot = slot
    slot.sequence = (newest?.sequence ?? 0) + 1
    slot.cutCount = max(slot.cutCount, newest?.cutCount ?? 0)
    let offset = Int(slot.sequence & 1) * CheckpointSlot.byteCount
    try writeAll(slot.bytes, to: descriptor, at: offset)
    try flushAll(descriptor)
  }
}

extension DataFile {
  /// Reads bytes; `nil` if the file is too short.
  func read(_ byteCount: Int, at offset: Int) -> [UInt8]? {
    readAll(byteCount, from: descriptor, at: offset)
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(LMDBError) {
    try writeAll(bytes, to: descriptor, at: offset)
  }

  /// Flushes all written bytes to the disk.
  func flush() throws(LMDBError) { try flushAll(descriptor) }
}

extension DataFile {
  /// Bytes far beyond the end of the data file; locks on them (``OpenFileLocks``) show its users.
  enum LockedByte: Int {
    /// Locked by a process that reads or writes the checkpoints.
    case checkpoints
    /// Shared by the processes that write with checkpoints.
    case checkpointedWriters
    /// Shared by the processes that write without checkpoints.
    case otherWriters
  }

  /// Takes or releases a lock; waits for conflicting locks.
  ///
  /// - Parameters:
  ///   - byte: The byte.
  ///   - type: `F_WRLCK`, `F_RDLCK` or `F_UNLCK`.
  /// - Returns: `false` if the file system does not support such locks.
  @discardableResult
  func lock(_ byte: LockedByte, _ type: CInt) -> Bool {
    OpenFileLocks.set(byte.rawValue, type, of: descriptor)
  }

  /// Whether another open file, of any process, has a lock.
  func isLockedElsewhere(_ byte: LockedByte) -> Bool {
    OpenFileLocks.areHeldElsewhere(byte.rawValue..<byte.rawValue + 1, of: descriptor)
  }
}

/// Reads bytes; `nil` if the file is too short or can't be read.
private func readAll(_ byteCount: Int, from descriptor: CInt, at offset: Int) -> [UInt8]? {
  var bytes = [UInt8](repeating: 0, count: byteCount)
  while true {
    let count = unsafe pread(descriptor, &bytes, byteCount, offset)
    if count >= 0 || errno != EINTR { return count == byteCount ? bytes : nil }
  }
}

private func writeAll(
  _ bytes: [UInt8], to descriptor: CInt, at offset: Int
) throws(LMDBError) {
  while true {
    let count = unsafe pwrite(descriptor, bytes, bytes.count, offset)
    if count == bytes.count { return }
    if count >= 0 { throw LMDBError(.diskFull, function: "pwrite", detail: "\(count) bytes") }
    if errno != EINTR { throw .system("pwrite", "\(bytes.count) bytes") }
  }
}

private func flushAll(_ descriptor: CInt) throws(LMDBError) {
  if retryInterrupted({ fdatasync(descriptor) }) != 0 { throw .system("fdatasync", "a checkpoint") }
}
