/// The beginning of a log, for reading only.
final class LogPrefix: ReplicationLog {
  private let log: any ReplicationLog
  private let last: UInt64

  /// Limits a log to its beginning.
  ///
  /// - Parameters:
  ///   - log: The log; it stays open.
  ///   - last: The last position of the beginning.
  init(_ log: any ReplicationLog, through last: UInt64) { (self.log, self.last) = (log, last) }

  func append(_ message: [UInt8], named name: String, expecting end: UInt64?) throws -> UInt64 {
    throw Self.isReadOnly
  }

  func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
    if position >= last { return [] }
    return try log.messages(after: position, limit: limit).filter { $0.position <= last }
  }

  func message(at position: UInt64) throws -> LoggedMessage? {
    position > last ? nil : try log.message(at: position)
  }

  var interruptionCount: UInt64 { log.interruptionCount }

  func end() throws -> UInt64 { min(try log.end(), last) }

  func putSnapshot(at position: UInt64, _ nextPart: () throws -> [UInt8]?) throws {
    throw Self.isReadOnly
  }

  func readSnapshot(_ body: ([UInt8]) throws -> Void) throws -> UInt64? {
    try log.readSnapshot(body)
  }

  func snapshotPosition() throws -> UInt64? { try log.snapshotPosition() }

  func retentionUsed(since position: UInt64) throws -> Double { 0 }

  func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) {}

  func close() {}

  private static var isReadOnly: LogFault { .unavailable("this log is read-only") }
}
