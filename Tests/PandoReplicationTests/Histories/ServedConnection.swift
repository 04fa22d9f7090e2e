import PandoReplication
import PandoSystem

/// A connection to a log that several servers keep: to one that has the lead, or to one that others have taken it from
/// and that does not know it.
///
/// The latter answers what it knows, and no append gets an answer from it, because it can't get others to agree.
final class ServedConnection: ReplicationLog {
  private let log: MemoryLog
  private let connection: MemoryConnection
  /// How many messages the server knows; `nil` for one that has the lead.
  private let known = Locked<Int?>(nil)

  init(_ log: MemoryLog) {
    self.log = log
    connection = MemoryConnection(log)
  }

  /// Goes to a server that has lost the lead.
  ///
  /// - Parameter count: How many messages it knows; `nil` for all that there are.
  func leaveLeader(knowing count: Int? = nil) {
    known.withLock { $0 = count ?? log.messages.count }
  }

  /// Goes to the server that has the lead.
  func findLeader() { known.withLock { $0 = nil } }

  func append(_ message: [UInt8], named name: String, expecting end: UInt64?) throws -> UInt64 {
    if known.withLock({ $0 != nil }) { throw LogFault.noAnswer }
    return try connection.append(message, named: name, expecting: end)
  }

  func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
    let known = known.withLock(\.self)
    return try connection.messages(after: position, limit: limit).filter { message in
      known.map { message.position <= $0 } ?? true
    }
  }

  func end() throws -> UInt64 { try known.withLock(\.self).map { UInt64($0) } ?? connection.end() }

  func putSnapshot(at position: UInt64, _ nextPart: () throws -> [UInt8]?) throws {
    try connection.putSnapshot(at: position, nextPart)
  }
  func readSnapshot(_ body: ([UInt8]) throws -> Void) throws -> UInt64? {
    try connection.readSnapshot(body)
  }
  func snapshotPosition() throws -> UInt64? { try connection.snapshotPosition() }
  func retentionUsed(since position: UInt64) throws -> Double {
    try connection.retentionUsed(since: position)
  }
  func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) { connection.follow(onEnd) }
  func close() { connection.close() }
}
