import PandoFixtures
import PandoReplication

/// A log on two servers that lose and mix up what they have acknowledged.
///
/// One server leads: what is appended, asked for by position, or asked of the end goes to it. Each connection reads
/// what comes from a server of its own, which has what the leader has, unless something has happened to it.
///
/// Sendable because one thread at a time runs.
final class LyingLog: @unchecked Sendable {
  struct Message: Equatable {
    var name: String
    var bytes: [UInt8]
  }

  struct Server {
    /// By position, from 1; one that is gone in the middle is `nil`.
    var messages: [Message?] = []
    /// How many of the first are not kept any more.
    var goneCount = 0

    func message(at position: Int) -> Message? {
      position > goneCount && position <= messages.count ? messages[position - 1] : nil
    }
  }

  var servers = [Server(), Server()]
  var leader = 0
  /// Whether there is a stream.
  var isThere = true
  var interruptionCount: UInt64 = 0
  var snapshot: (position: UInt64, bytes: [UInt8])?
  /// The copy as it was put, where it was damaged.
  var isSnapshotDamaged = false
  /// Whether a server leaves out what it has lost, and does not say so.
  var skipsGaps = false
  /// Messages that are on their way.
  var delayed: [Message] = []

  var end: Int { servers[leader].messages.count }

  @discardableResult
  func append(_ message: Message, expecting end: UInt64? = nil) throws -> UInt64 {
    if let end, Int(end) != servers[leader].messages.count { throw LogFault.endsElsewhere }
    if let known = servers[leader].messages.firstIndex(where: { $0?.name == message.name }) {
      return UInt64(known + 1)
    }
    servers[leader].messages.append(message)
    let other = 1 - leader
    // The other one keeps what it has, as far as the leader goes, and gets what it lacks.
    let count = servers[leader].messages.count
    let kept = min(servers[other].messages.count, count - 1)
    servers[other].messages = Array(servers[other].messages[..<kept])
    servers[other].messages += servers[leader].messages[kept...]
    servers[other].goneCount = servers[leader].goneCount
    return UInt64(count)
  }

  /// Gives the other server what it lacks behind its own messages.
  func complete() {
    let (own, other) = (servers[leader].messages, servers[1 - leader].messages)
    if other.count < own.count { servers[1 - leader].messages += own[other.count...] }
  }

  func deliverDelayed() {
    for message in delayed { _ = try? append(message) }
    delayed = []
  }
}

/// A connection to a ``LyingLog``.
final class LyingConnection: ReplicationLog, @unchecked Sendable {
  private let log: LyingLog
  private let server: Int
  private let onCall: (MemoryConnection.Call, MemoryConnection.Moment) throws -> Void

  /// Connects to a server; `onCall` as that of a ``MemoryConnection``.
  init(
    _ log: LyingLog, server: Int,
    onCall: @escaping (MemoryConnection.Call, MemoryConnection.Moment) throws -> Void
  ) {
    (self.log, self.server, self.onCall) = (log, server, onCall)
  }

  private func meet(_ call: MemoryConnection.Call, _ moment: MemoryConnection.Moment) throws {
    try onCall(call, moment)
    if !log.isThere { throw LogFault.unavailable("there is no stream") }
  }

  func append(_ message: [UInt8], named name: String, expecting end: UInt64?) throws -> UInt64 {
    let message = LyingLog.Message(name: name, bytes: message)
    do {
      try meet(.append, .before)
    } catch is MemoryConnection.Delay {
      log.delayed.append(message)
      throw LogFault.noAnswer
    }
    let position = try log.append(message, expecting: end)
    try meet(.append, .after)
    return position
  }

  func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
    try meet(.messages, .before)
    let own = log.servers[server]
    var found: [LoggedMessage] = []
    for index in Int(position)..<max(Int(position), own.messages.count) where found.count < limit {
      if let message = own.message(at: index + 1) {
        found.append(LoggedMessage(position: UInt64(index + 1), bytes: message.bytes))
      } else if found.isEmpty && !(log.skipsGaps && index >= own.goneCount) {
        let first = (index..<own.messages.count).first { own.message(at: $0 + 1) != nil }
        throw LogFault.gone(first: UInt64((first ?? own.messages.count) + 1))
      } else if !log.skipsGaps {
        break
      }
    }
    return found
  }

  func message(at position: UInt64) throws -> LoggedMessage? {
    try meet(.messages, .before)
    return log.servers[log.leader].message(at: Int(position)).map {
      LoggedMessage(position: position, bytes: $0.bytes)
    }
  }

  var interruptionCount: UInt64 { log.interruptionCount }

  func end() throws -> UInt64 {
    try meet(.end, .before)
    return UInt64(log.end)
  }

  func putSnapshot(at position: UInt64, _ nextPart: () throws -> [UInt8]?) throws {
    try meet(.end, .before)
    var bytes: [UInt8] = []
    while let part = try nextPart() { bytes += part }
    log.snapshot = (position, bytes)
    log.isSnapshotDamaged = false
  }

  func readSnapshot(_ body: ([UInt8]) throws -> Void) throws -> UInt64? {
    try meet(.end, .before)
    guard let snapshot = log.snapshot else { return nil }
    try body(snapshot.bytes)
    return snapshot.position
  }

  func snapshotPosition() throws -> UInt64? {
    try meet(.end, .before)
    return log.snapshot?.position
  }

  /// As an engine that has let go of some messages, and keeps the others for long.
  func retentionUsed(since position: UInt64) throws -> Double {
    position < log.servers[log.leader].goneCount ? 1 : 0
  }

  func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) {}

  func close() {}
}
