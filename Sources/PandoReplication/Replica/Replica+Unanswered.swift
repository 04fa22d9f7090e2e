import PandoStore
import PandoSystem

extension Replica {
  /// The outcome of a write without an answer.
  ///
  /// - Parameter name: The name in the error with which the write failed.
  /// - Returns: The outcome; `nil` if this store has no write of that name.
  /// - Throws: Errors of reading a store.
  package func outcome(ofWrite name: String) throws -> WriteOutcome? {
    try store.flatMap { try Self.outcome(ofWrite: name, $0) }
  }

  static func outcome(ofWrite name: String, _ store: ModelStore) throws -> WriteOutcome? {
    guard let (identity, index) = parse(name) else { return nil }
    return try store.read { snapshot in
      guard let row = try snapshot.unanswered(identity.origin, identity.counter) else { return nil }
      if !row.verdicts.isEmpty {
        guard row.verdicts.indices.contains(index) else { return nil }
        return row.verdicts[index] ? .stored(position: row.position) : .refused
      }
      let last = try snapshot.origin(identity.origin)?.counter ?? 0
      if last == identity.counter { return .unknown }
      // A later entry of the same opening has arrived, or this one would be too far after the position from which it
      // was made.
      let position = try snapshot.replicationRow?.position ?? 0
      let isTooLate = position > row.position + ModelTransaction.judgedCommitCount
      return last > identity.counter || isTooLate ? .absent : .pending
    }
  }

  private static func parse(_ name: String) -> (EntryIdentity, index: Int)? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    let words = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, words.count == 2, words[0].utf8.count == 32,
      let index = Int(parts[1]), let counter = UInt64(words[1])
    else { return nil }
    let digits = words[0].compactMap(\.hexDigitValue)
    guard digits.count == 32 else { return nil }
    let origin = stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    return (EntryIdentity(origin: origin, counter: counter), index)
  }

  /// Notes that an entry has no answer.
  ///
  /// - Returns: The error for the callers of its writes, with the name of the entry.
  func noteUnanswered(
    _ identity: EntryIdentity, _ error: any Error, _ writer: EntryWriter
  ) -> any Error {
    var named =
      error as? StoreError
      ?? StoreError(
        .unavailable, store?.path ?? "replication",
        "the log may have the write, and this store could not commit it; the store applies it as soon as it can",
        underlying: error)
    named.writeName = identity.name
    _ = unsafe unanswered.insert(identity)
    // If the disk has no room, the outcome is noted when the entry arrives.
    try? writer.flush { flush in
      let position = try flush.transaction.replicationRow?.position ?? 0
      try flush.transaction.setUnanswered(
        identity.origin, identity.counter, UnansweredRow(position: position, seconds: Self.now))
    }
    return named
  }

  /// Notes the outcome of an entry that had no answer.
  func noteAnswer(
    _ entry: Entry, _ verdicts: [Bool], at position: UInt64,
    _ transaction: borrowing ModelTransaction
  ) throws {
    guard unsafe unanswered.contains(entry.identity) else { return }
    try transaction.setUnanswered(
      entry.identity.origin, entry.identity.counter,
      UnansweredRow(position: position, seconds: Self.now, verdicts: verdicts))
  }

  private static var now: UInt64 { UInt64(max(0, time(nil))) }
}
