import PandoSystem

extension Environment {
  /// Runs the first phase of opening, for a caller that reads pages before it opens.
  ///
  /// - Parameters:
  ///   - path: The folder; without a data file nothing happens.
  ///   - configuration: The settings with which it will be opened.
  /// - Throws: As opening.
  package static func settleCheckpoint(
    path: String, _ configuration: Configuration
  ) throws(LMDBError) {
    try LockFile.refuseReadOnlyMount(
      path, isReadOnly: configuration.isReadOnly, assumingNoWriter: configuration.assumingNoWriter)
    guard unsafe access("\(path)/\(CheckpointFile.name)", F_OK) == 0, !isUnmade(path: path) else {
      return
    }
    let file = try DataFile(
      path: "\(path)/\(DataFile.name)", isReadOnly: configuration.isReadOnly,
      mode: configuration.fileMode)
    _ = try settleCheckpoint(file, folder: path, configuration)
  }

  /// Makes sure, before any page is read, that the data file shows a complete version.
  ///
  /// The version of the last checkpoint is restored if this is a copy, or if the last writer with
  /// checkpoints did not close the file before a restart. A writer also takes a lock that excludes
  /// the other kind of writer: one without checkpoints would reuse pages of the last checkpoint.
  ///
  /// - Parameters:
  ///   - file: The data file; it holds the lock afterwards.
  ///   - folder: The folder of the environment.
  ///   - configuration: The settings.
  /// - Returns: The number of power failures that the file was restored from.
  /// - Throws: ``LMDBError`` with code `otherDurability` if another process writes the other way;
  ///   `readOnly` if a restore is needed and the environment is read-only; else the system's code.
  static func settleCheckpoint(
    _ file: borrowing DataFile, folder: String, _ configuration: Configuration
  ) throws(LMDBError) -> UInt64 {
    let makes = configuration.checkpointInterval != nil && !configuration.isReadOnly
    guard !configuration.isReadOnly else {
      guard
        let checkpoints = try CheckpointFile.open(
          folder: folder, makes: false, isReadOnly: true, mode: 0),
        let slot = checkpoints.newest()
      else { return 0 }
      guard try isTrusted(file, slot) || !slot.fits(file) else {
        throw LMDBError(
          .readOnly, function: "open",
          detail: "\(folder) was left by a power failure; open it for writing first")
      }
      return slot.cutCount
    }
    guard file.lock(.checkpoints, F_WRLCK) || !makes else { throw .system("fcntl", folder) }
    defer { file.lock(.checkpoints, F_UNLCK) }
    guard !file.isLockedElsewhere(makes ? .otherWriters : .checkpointedWriters) else {
      throw LMDBError(
        .otherDurability, function: "open",
        detail: "\(folder): another process writes \(makes ? "without" : "with") checkpoints")
    }
    file.lock(makes ? .checkpointedWriters : .otherWriters, F_RDLCK)
    guard
      let checkpoints = try CheckpointFile.open(
        folder: folder, makes: makes, mode: configuration.fileMode)
    else { return 0 }
    guard var slot = checkpoints.newest() else { return 0 }
    guard slot.boot != .none else { return slot.cutCount }
    let newest = slot
    if try isTrusted(file, slot) {
      // A killed process left the slot, or another process has the file open.
      if makes { return slot.cutCount }
      try file.flush()
      slot.boot = .none
    } else if slot.fits(file) {
      try slot.restore(file)
      slot.cutCount += 1
      slot.file = file.identity
      slot.boot = makes ? try .current() : .none
    } else {
      slot.boot = .none
    }
    try checkpoints.write(slot, after: newest)
    return slot.cutCount
  }

  /// Whether the data file is complete: it was closed, or it is the same file and the system has
  /// not restarted since.
  ///
  /// A copy has another identity; it may be a disk snapshot, as after a power failure.
  private static func isTrusted(
    _ file: borrowing DataFile, _ slot: CheckpointSlot
  ) throws(LMDBError) -> Bool {
    if slot.boot == .none || file.isLockedElsewhere(.checkpointedWriters) { return true }
    return try slot.boot == .current() && slot.file == file.identity
  }
}
