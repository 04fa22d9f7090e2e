import PandoModels
import PandoStore

/// Entries that are too large for one message.
extension Replica {
  /// Reads the other parts of an entry, which are before its last one.
  ///
  /// The store has applied them before. The call compares them with the stored hashes, because the log may have other
  /// messages there now.
  ///
  /// - Parameters:
  ///   - last: The last part.
  ///   - position: The position of the last part.
  ///   - transaction: A transaction with the hashes of all earlier positions.
  /// - Returns: The bytes of the entry.
  /// - Throws: `EntryFault` `malformed` for parts that make no entry; ``StoreError`` `logLost` if the log has lost one
  ///   of the messages, `forked` if it has another one; ``LogFault``.
  func bytes(
    of last: EntryPart, at position: UInt64, _ transaction: borrowing ModelTransaction
  ) throws -> [UInt8] {
    guard last.first > 0, last.first < position,
      position - last.first <= ModelTransaction.judgedCommitCount
    else { throw EntryFault.malformed("parts that are too far apart") }
    var parts: [Int: [UInt8]] = [last.index: last.bytes]
    var next = last.first - 1
    while next < position - 1 {
      let messages: [LoggedMessage]
      do {
        messages = try log.messages(after: next, limit: configuration.messagesPerCommit)
      } catch LogFault.gone(let first) {
        throw Self.logLost(at: first, behind: next)
      }
      guard messages.last.map({ $0.position > next }) ?? false else {
        throw LogFault.unavailable("parts of an entry are not there")
      }
      for message in messages where message.position <= position {
        try requireKnown(message, behind: next, transaction)
        next = message.position
        guard next < position, case .part(let part)? = try? LogMessage(message.bytes),
          part.identity == last.identity, part.count == last.count, parts[part.index] == nil
        else { continue }
        parts[part.index] = part.bytes
      }
    }
    guard parts.count == last.count else { throw EntryFault.malformed("a part is missing") }
    return (0..<last.count).flatMap { parts[$0] ?? [] }
  }

  /// Checks that a message is the one that the store has applied before.
  private func requireKnown(
    _ message: LoggedMessage, behind position: UInt64, _ transaction: borrowing ModelTransaction
  ) throws {
    if !configuration.omissions.contains(.gaps), message.position != position + 1 {
      throw Self.logLost(at: message.position, behind: position)
    }
    guard !configuration.omissions.contains(.origins),
      // An earlier version of the library stored no hash.
      let before = try transaction.chain(at: message.position - 1),
      let own = try transaction.chain(at: message.position)
    else { return }
    guard before.appending(message.bytes) == own else {
      throw Self.forked(
        at: message.position, behind: message.position, end: lastSeen, "replication")
    }
  }
}
