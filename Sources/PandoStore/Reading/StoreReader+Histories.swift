import PandoLMDB
import PandoModels

extension StoreReader {
  /// The histories of the store, as its commit numbers name them.
  func histories() throws -> Histories {
    var histories = try sharedHistories()
    let key = OwnHistory.key
    if let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) {
      histories.replace(by: try OwnHistory(bytes))
    }
    return histories
  }

  /// The histories that all replicas have.
  func sharedHistories() throws -> Histories {
    let key = Histories.key
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) else {
      return Histories()
    }
    return try Histories(bytes)
  }

  /// The number of a commit, with its history.
  func number(_ value: UInt64) throws -> CommitNumber {
    try histories().number(value)
  }

  /// Finds the place of a commit of a caller.
  ///
  /// - Parameters:
  ///   - known: The commit.
  ///   - newest: The newest commit.
  ///   - subject: The subject of an error; the commit if `nil`.
  /// - Returns: The number.
  /// - Throws: ``StoreError`` `changesExpired` for a commit of another history, or a later one.
  func place(of known: CommitNumber, newest: UInt64, for subject: String? = nil) throws -> UInt64 {
    func expired(_ reason: String) -> StoreError {
      StoreError(
        .changesExpired, subject ?? "commit \(known.value)",
        "\(reason); the store may have been restored from a backup: read the data again, and "
          + "continue after the commit number of that snapshot")
    }
    if known.value > newest {
      throw expired("commit \(known.value) does not exist, the newest is commit \(newest)")
    }
    guard try isPast(known, newest: newest) else {
      throw expired("the store's commit \(known.value) is of another history than \(known)")
    }
    return known.value
  }

  /// Whether a commit is one of the store's past.
  func isPast(_ known: CommitNumber, newest: UInt64) throws -> Bool {
    if known.value > newest { return false }
    if known.history == 0 || known.value == 0 { return true }
    return try histories().number(known.value) == known
  }
}
