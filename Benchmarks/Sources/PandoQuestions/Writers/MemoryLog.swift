import Pando
import PandoReplication
import Synchronization

/// A log in memory that keeps all messages.
final class MemoryLog: Sendable {
  fileprivate struct State {
    var messages: [[UInt8]] = []
    var positions: [String: UInt64] = [:]
    var followers: [ObjectIdentifier: @Sendable (UInt64) -> Void] = [:]
  }

  fileprivate let state = Mutex(State())
}

/// The connection of one store to a log in memory.
final class MemoryConnection: ReplicationLog {
  private let log: MemoryLog

  init(_ log: MemoryLog) { self.log = log }

  func append(_ message: [UInt8], named name: String, expecting end: UInt64?) throws -> UInt64 {
    let (position, followers) = try log.state.withLock { state in
      if let known = state.positions[name] { return (known, [@Sendable (UInt64) -> Void]()) }
      if let end, end != state.messages.count { throw LogFault.endsElsewhere }
      state.messages.append(message)
      state.positions[name] = UInt64(state.messages.count)
      return (UInt64(state.messages.count), Array(state.followers.values))
    }
    for follower in followers { follower(position) }
    return position
  }

  func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
    log.state.withLock { state in
      state.messages.enumerated().dropFirst(Int(position)).prefix(limit).map {
        LoggedMessage(position: UInt64($0.offset + 1), bytes: $0.element)
      }
    }
  }

  func end() throws -> UInt64 { log.state.withLock { UInt64($0.messages.count) } }

  // There are no copies of stores: the log keeps all.
  func putSnapshot(at position: UInt64, _ nextPart: () throws -> [UInt8]?) throws {
    while try nextPart() != nil {}
  }

  func readSnapshot(_ body: ([UInt8]) throws -> Void) throws -> UInt64? { nil }

  func snapshotPosition() throws -> UInt64? { nil }

  func retentionUsed(since position: UInt64) throws -> Double { 0 }

  func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) {
    log.state.withLock { $0.followers[ObjectIdentifier(self)] = onEnd }
  }

  func close() { log.state.withLock { $0.followers[ObjectIdentifier(self)] = nil } }
}
