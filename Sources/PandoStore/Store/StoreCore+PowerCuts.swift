import PandoLMDB

/// Commit numbers after a power failure, and format versions of stores with checkpoints.
extension StoreCore {
  /// The commit numbers skipped per power failure: more than can be committed in an interval.
  ///
  /// A sequence number has room for 2⁴⁴ commits, so a store survives a million failures.
  private static let numbersPerCut: UInt64 = 1 << 24
  /// The row of `meta` with the number of power failures whose numbers were skipped.
  private static let cutsKey = Array("power-cuts".utf8)

  /// Skips all commit numbers that power failures may have lost, and sets the format version that
  /// older programs refuse while there are checkpoints.
  ///
  /// A number is never reused, so no caller mistakes a new commit for a lost one. The change log
  /// begins anew after the skipped numbers. A replicated store skips nothing:
  /// its log brings the lost commits again, under the same numbers.
  func settlePowerCuts() throws {
    guard !configuration.isReadOnly else { return }
    let isCheckpointed = environment.configuration.checkpointInterval != nil
    let cuts = environment.cutCount
    let (state, known) = try environment.read { try knownCuts($0) }
    let isRefused = state?.formatVersion == StoreState.checkpointedFormatVersion
    let isReplicated = state?.isReplicated ?? false
    if cuts == known, isReplicated || isCheckpointed == isRefused { return }
    try environment.write { transaction in
      let snapshot = unsafe Snapshot(unsafeHandle: transaction.unsafeHandle)
      let (found, known) = try knownCuts(snapshot)
      guard var state = found else { return }
      if cuts > known, !state.isReplicated {
        state.commitNumber += (cuts - known) * Self.numbersPerCut
        state.oldestChange = state.commitNumber + 1
        try transaction.removeAll(in: tables.changes)
        let newest = NewestChanges.key
        try transaction.delete(key: newest.span, in: tables.meta)
      }
      if isCheckpointed {
        state.formatVersion = StoreState.checkpointedFormatVersion
      } else if state.formatVersion == StoreState.checkpointedFormatVersion {
        state.formatVersion = StoreState.formatVersion
      }
      let count = [UInt8](littleEndian: cuts)
      if cuts != known {
        try transaction.put(count.span, forKey: Self.cutsKey.span, in: tables.meta)
      }
      let (key, bytes) = (StoreState.key, state.bytes)
      try transaction.put(bytes.span, forKey: key.span, in: tables.meta)
    }
    try environment.flush()
  }

  /// The state of the store, and the number of power failures whose numbers were skipped.
  private func knownCuts(_ snapshot: Snapshot) throws -> (StoreState?, UInt64) {
    let reader = StoreReader(snapshot, tables: tables, directory: directory, pending: nil)
    let state = try reader.state(path: path)
    guard let row = try snapshot.bytes(forKey: Self.cutsKey.span, in: tables.meta) else {
      return (state, 0)
    }
    return (state, row.littleEndian(at: 0) ?? 0)
  }
}
