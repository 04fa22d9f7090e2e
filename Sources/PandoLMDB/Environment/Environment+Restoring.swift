import PandoSystem

extension Environment {
  /// Does what opening does first, for who looks at the pages before.
  ///
  /// - Parameters:
  ///   - path: The folder; nothing is done where it has no data file.
  ///   - configuration: How it will be opened.
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

  /// Sees to it, before anybody looks at the pages, that the data file shows a version that is whole.
  ///
  /// Where the last one who wrote with checkpoints has not closed the file, and the system has been started
  /// anew since or this is a copy, the version of the last checkpoint is put in place. Who writes takes a
  /// lock beside, so that the two kinds of writers don't meet: one without checkpoints would use pages
  /// again that the last checkpoint needs.
  ///
  /// - Parameters:
  ///   - file: The data file; it has the lock from then on.
  ///   - folder: The folder of the environment.
  ///   - configuration: How it is opened.
  /// - Returns: From how many power cuts the file has been brought back.
  /// - Throws: ``LMDBError`` with code `otherDurability` if another process writes the other way, `readOnly`
  ///   if the version has to be put in place and this is opened for reading only, else the system's code.
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
          detail: "\(folder) is as a power cut has left it; open it for writing first")
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
      // A killed process has left it, or others have it open.
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

  /// Whether the data file has all that was written to it: it was closed, or it is the very file that was
  /// written since the system was started.
  ///
  /// A copy of another identity may be a snapshot of the disk, which has what a power cut would leave.
  private static func isTrusted(
    _ file: borrowing DataFile, _ slot: CheckpointSlot
  ) throws(LMDBError) -> Bool {
    if slot.boot == .none || file.isLockedElsewhere(.checkpointedWriters) { return true }
    return try slot.boot == .current() && slot.file == file.identity
  }
}
