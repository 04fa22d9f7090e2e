import PandoReplication
import PandoSystem

/// A log in memory, which several replicas follow over connections of their own.
final class MemoryLog: Sendable {
  struct State {
    var messages: [[UInt8]] = []
    /// The positions of messages by name, as long as the engine knows names.
    var names: [String: UInt64] = [:]
    /// Messages that are on their way.
    var delayed: [(name: String, bytes: [UInt8])] = []
    var snapshot: (position: UInt64, parts: [[UInt8]])?
    /// How many of the first messages are not kept any more.
    var goneCount = 0
    var interruptionCount: UInt64 = 0
    /// Who is told of new messages, by connection.
    var followers: [ObjectIdentifier: @Sendable (UInt64) -> Void] = [:]
  }

  let state = Locked(State())
  /// How many copies of stores there have been.
  let snapshotCount = Monitor(0)

  var messages: [[UInt8]] { state.withLock { $0.messages } }

  /// Appends a message as it is.
  @discardableResult
  func append(_ bytes: [UInt8]) -> UInt64 {
    let position = state.withLock { state in
      state.messages.append(bytes)
      return UInt64(state.messages.count)
    }
    tell()
    return position
  }

  /// Tells those who follow the log where it ends.
  func tell() {
    let (followers, end) = state.withLock { (Array($0.followers.values), $0.messages.count) }
    for follower in followers { follower(UInt64(end)) }
  }

  /// Forgets the first messages, as an engine does that keeps them for some time.
  func forget(first count: Int) { state.withLock { $0.goneCount = count } }

  /// Lets the engine forget which messages it has.
  func forgetNames() { state.withLock { $0.names = [:] } }

  /// Appends what was on its way.
  func deliverDelayed() {
    state.withLock { state in
      for message in state.delayed { state.append(message.bytes, named: message.name) }
      state.delayed = []
    }
    tell()
  }

  /// Interrupts all connections.
  func interrupt() { state.withLock { $0.interruptionCount += 1 } }

  /// Waits until there is a copy of a store.
  func waitForSnapshot() { snapshotCount.waiting { $0 == 0 ? nil : () } }

  /// Loses all messages behind a position, as an engine may that was cut from power.
  func truncate(to count: Int) {
    state.withLock { state in
      state.messages.removeLast(state.messages.count - count)
      state.names = state.names.filter { $0.value <= count }
    }
  }
}

extension MemoryLog.State {
  @discardableResult
  mutating func append(_ bytes: [UInt8], named name: String) -> UInt64 {
    if let known = names[name] { return known }
    messages.append(bytes)
    names[name] = UInt64(messages.count)
    return UInt64(messages.count)
  }
}

/// A connection to a ``MemoryLog``, on which calls can fail.
final class MemoryConnection: ReplicationLog {
  enum Call: Sendable {
    case append
    case messages
    case end
  }

  /// When a call is met.
  enum Moment: Sendable {
    /// Nothing has come to the log.
    case before
    /// The log has done it, and the answer is on its way.
    case after
  }

  /// What happens to an append, beside what a closure throws.
  struct Delay: Error {}

  private let log: MemoryLog
  private let onCall: @Sendable (Call, Moment) throws -> Void

  /// Connects.
  ///
  /// - Parameters:
  ///   - log: The log.
  ///   - onCall: Called around each call; throws what the call is to throw. A ``Delay`` before an append has
  ///     it come later, and without an answer.
  init(
    _ log: MemoryLog,
    onCall: @escaping @Sendable (Call, Moment) throws -> Void = { _, _ in }
  ) {
    self.log = log
    self.onCall = onCall
  }

  func append(_ message: [UInt8], named name: String, expecting end: UInt64?) throws -> UInt64 {
    do {
      try onCall(.append, .before)
    } catch is Delay {
      log.state.withLock { $0.delayed.append((name, message)) }
      throw LogFault.noAnswer
    }
    let position = try log.state.withLock { state in
      if let end, end != state.messages.count { throw LogFault.endsElsewhere }
      return state.append(message, named: name)
    }
    log.tell()
    try onCall(.append, .after)
    return position
  }

  func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
    try onCall(.messages, .before)
    return try log.state.withLock { state in
      if position < state.goneCount { throw LogFault.gone(first: UInt64(state.goneCount + 1)) }
      return state.messages.enumerated().dropFirst(Int(position)).prefix(limit).map {
        LoggedMessage(position: UInt64($0.offset + 1), bytes: $0.element)
      }
    }
  }

  func message(at position: UInt64) throws -> LoggedMessage? {
    try onCall(.messages, .before)
    return log.state.withLock { state in
      guard position > state.goneCount, position <= state.messages.count else { return nil }
      return LoggedMessage(position: position, bytes: state.messages[Int(position) - 1])
    }
  }

  var interruptionCount: UInt64 { log.state.withLock(\.interruptionCount) }

  func end() throws -> UInt64 {
    try onCall(.end, .before)
    return UInt64(log.messages.count)
  }

  func putSnapshot(at position: UInt64, _ nextPart: () throws -> [UInt8]?) throws {
    var parts: [[UInt8]] = []
    while let part = try nextPart() { parts.append(part) }
    log.state.withLock { $0.snapshot = (position, parts) }
    log.snapshotCount.withLock { $0 += 1 }
    log.snapshotCount.notifyAll()
  }

  func readSnapshot(_ body: ([UInt8]) throws -> Void) throws -> UInt64? {
    guard let snapshot = log.state.withLock({ $0.snapshot }) else { return nil }
    for part in snapshot.parts { try body(part) }
    return snapshot.position
  }

  func snapshotPosition() throws -> UInt64? { log.state.withLock { $0.snapshot?.position } }

  /// As an engine that keeps 100 messages.
  func retentionUsed(since position: UInt64) throws -> Double {
    Double(log.messages.count - min(log.messages.count, Int(position))) / 100
  }

  func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) {
    log.state.withLock { $0.followers[ObjectIdentifier(self)] = onEnd }
  }

  func close() { log.state.withLock { $0.followers[ObjectIdentifier(self)] = nil } }
}
