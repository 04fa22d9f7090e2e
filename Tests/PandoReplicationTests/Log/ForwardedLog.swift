import PandoReplication

/// A log that does what another one does, but for what a subclass does otherwise.
///
/// It reads a single message as it reads several: a subclass says once what is read.
class ForwardedLog: ReplicationLog, @unchecked Sendable {
  private let base: any ReplicationLog

  init(_ base: any ReplicationLog) { self.base = base }

  func append(_ message: [UInt8], named name: String, expecting end: UInt64?) throws -> UInt64 {
    try base.append(message, named: name, expecting: end)
  }

  func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
    try base.messages(after: position, limit: limit)
  }

  var interruptionCount: UInt64 { base.interruptionCount }

  func end() throws -> UInt64 { try base.end() }

  func putSnapshot(at position: UInt64, _ nextPart: () throws -> [UInt8]?) throws {
    try base.putSnapshot(at: position, nextPart)
  }

  func readSnapshot(_ body: ([UInt8]) throws -> Void) throws -> UInt64? {
    try base.readSnapshot(body)
  }

  func snapshotPosition() throws -> UInt64? { try base.snapshotPosition() }

  func retentionUsed(since position: UInt64) throws -> Double {
    try base.retentionUsed(since: position)
  }

  func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) { base.follow(onEnd) }

  func close() { base.close() }
}
