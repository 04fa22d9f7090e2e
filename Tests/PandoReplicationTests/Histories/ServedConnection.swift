import PandoReplication
import PandoSystem

/// A connection to a log that several servers keep: to one that has the lead, or to one that others have taken it from
/// and that does not know it.
///
/// The latter answers what it knows, and no append gets an answer from it, because it can't get others to agree.
final class ServedConnection: ForwardedLog, @unchecked Sendable {
  private let log: MemoryLog
  /// How many messages the server knows; `nil` for one that has the lead.
  private let known = Locked<Int?>(nil)

  init(_ log: MemoryLog) {
    self.log = log
    super.init(MemoryConnection(log))
  }

  /// Goes to a server that has lost the lead.
  ///
  /// - Parameter count: How many messages it knows; `nil` for all that there are.
  func leaveLeader(knowing count: Int? = nil) {
    known.withLock { $0 = count ?? log.messages.count }
  }

  /// Goes to the server that has the lead.
  func findLeader() { known.withLock { $0 = nil } }

  override func append(
    _ message: [UInt8], named name: String, expecting end: UInt64?
  ) throws -> UInt64 {
    if known.withLock({ $0 != nil }) { throw LogFault.noAnswer }
    return try super.append(message, named: name, expecting: end)
  }

  override func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
    let known = known.withLock(\.self)
    return try super.messages(after: position, limit: limit).filter { message in
      known.map { message.position <= $0 } ?? true
    }
  }

  override func end() throws -> UInt64 {
    try known.withLock(\.self).map { UInt64($0) } ?? super.end()
  }
}
