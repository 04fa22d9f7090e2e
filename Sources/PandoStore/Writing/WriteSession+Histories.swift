import PandoModels

extension WriteSession {
  /// The commit number of the write under way, if it changes anything.
  var nextCommitNumber: UInt64 { state.counters.commitNumber + 1 }

  /// The number of the next commit; the first one of this opening begins a history.
  ///
  /// Replicated stores have the histories of their log.
  func nextNumber() throws -> CommitNumber {
    let value = nextCommitNumber
    if let known = state.history { return CommitNumber(value: value, history: known) }
    let known = core.history
    // No other process has committed since; a log may have begun a history meanwhile.
    if let known, known.last == countersAtStart?.commitNumber, !state.counters.isReplicated {
      state.history = known.mark
      return CommitNumber(value: value, history: known.mark)
    }
    var histories = try reading { try $0.histories() }
    if known == nil, !state.counters.isReplicated {
      histories.begin(Histories.newMark(), at: value)
      try put(histories)
    }
    state.history = histories.newest
    return CommitNumber(value: value, history: histories.newest)
  }

  /// Writes the histories.
  func put(_ histories: Histories) throws {
    let bytes = histories.bytes
    let key = Histories.key
    try put(bytes.span, forKey: key.span, in: tables.meta)
  }
}
