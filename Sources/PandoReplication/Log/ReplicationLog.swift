/// A log that keeps messages in one order for all who follow it; an engine keeps it.
///
/// Little is asked of the engine: total order, an acknowledgement, and replay from a position. All calls
/// block. ``append(_:named:expecting:)`` and ``messages(after:limit:)`` come from the thread that leads the
/// writes of a store, the others from any, at the same time as these. A log that has no ``message(at:)`` of its own has to
/// bear ``messages(after:limit:)`` from any thread as well.
///
/// ```swift
/// let log: any ReplicationLog = try NATSLog(configuration)
/// print("ends at position", try log.end())
/// print("newest copy at position", try log.snapshotPosition() ?? 0)
/// log.close()
/// ```
public protocol ReplicationLog: AnyObject, Sendable {
  /// Appends a message.
  ///
  /// - Parameters:
  ///   - message: Its bytes.
  ///   - name: Its name; of two messages with the same name the engine may drop the later one.
  ///   - end: The position of the last message, if it is to be refused behind any other.
  /// - Returns: Its position; positions begin at 1 and have no gaps.
  /// - Throws: ``LogFault``.
  func append(_ message: [UInt8], named name: String, expecting end: UInt64?) throws -> UInt64

  /// Reads the next messages.
  ///
  /// - Parameters:
  ///   - position: The position behind which they begin.
  ///   - limit: How many at most.
  /// - Returns: The messages in order, without a gap; none if there are none.
  /// - Throws: ``LogFault``, `gone` if the first of them is not there any more.
  func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage]

  /// Reads one message as the engine has it now: a store looks so whether the log still has what it has taken in.
  ///
  /// - Parameter position: Its position, from 1.
  /// - Returns: The message; `nil` if none is there, not any more or not yet.
  /// - Throws: ``LogFault``.
  func message(at position: UInt64) throws -> LoggedMessage?

  /// How often the log was not heard for a while, or over another connection than before: what it had may be gone
  /// since, and a store looks before it writes.
  var interruptionCount: UInt64 { get }

  /// The position of the last message, 0 if there is none.
  ///
  /// - Throws: ``LogFault``.
  func end() throws -> UInt64

  /// Keeps a copy of a store beside the log.
  ///
  /// - Parameters:
  ///   - position: The position that the store had taken in.
  ///   - nextPart: Gives the parts of the copy one after another, then `nil`.
  /// - Throws: ``LogFault``, and what `nextPart` throws.
  func putSnapshot(at position: UInt64, _ nextPart: () throws -> [UInt8]?) throws

  /// Reads the newest copy of a store: the one that was put last.
  ///
  /// - Parameter body: Gets its parts one after another.
  /// - Returns: The position that the store had taken in; `nil` if there is no copy.
  /// - Throws: ``LogFault``, and what `body` throws.
  func readSnapshot(_ body: ([UInt8]) throws -> Void) throws -> UInt64?

  /// The position of the newest copy of a store; `nil` if there is none.
  ///
  /// - Throws: ``LogFault``.
  func snapshotPosition() throws -> UInt64?

  /// Which part of the messages that the log keeps have come since a position: of the time or of the bytes that
  /// it keeps, the larger one.
  ///
  /// - Parameter position: The position.
  /// - Returns: 0 at the end of the log, and for one that keeps all; about 1 for the first message that is kept,
  ///   or more where that is gone.
  /// - Throws: ``LogFault``.
  func retentionUsed(since position: UInt64) throws -> Double

  /// Calls a closure for new messages, in place of the closure of an earlier call.
  ///
  /// - Parameter onEnd: Gets the position of a stored message, on a thread of the log. It must not block, and must not
  ///   call the log. Positions may be skipped, late or repeated, but the last one always arrives. The log may call it
  ///   while ``close()`` runs, and not afterwards.
  func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void)

  /// How old the newest copy of a store is, by the clock of the log.
  ///
  /// - Returns: Its age; `nil` if there is no copy, or the log does not record it.
  /// - Throws: ``LogFault``.
  func snapshotAge() throws -> Duration?

  /// The guarantees that the log does not give as it is configured, one sentence each, for operators.
  var warnings: [String] { get }

  /// Ends the connection and any call that waits; later calls throw.
  func close()
}

extension ReplicationLog {
  /// Reads the next message behind the one before.
  ///
  /// - Complexity: As ``messages(after:limit:)`` for one message.
  public func message(at position: UInt64) throws -> LoggedMessage? {
    precondition(position > 0, "positions begin at 1")
    do {
      return try messages(after: position - 1, limit: 1).first { $0.position == position }
    } catch LogFault.gone {
      return nil
    }
  }

  /// 0: nothing is known of interruptions.
  public var interruptionCount: UInt64 { 0 }

  /// Nothing is known.
  ///
  /// - Complexity: O(1).
  public func snapshotAge() throws -> Duration? { nil }

  /// None.
  public var warnings: [String] { [] }
}

/// A message at its position.
///
/// ```swift
/// for message in try log.messages(after: position, limit: 100) {
///   print(message.position, message.bytes.count, "bytes")
/// }
/// ```
public struct LoggedMessage: Equatable, Sendable {
  /// Its position; positions begin at 1.
  public var position: UInt64
  /// Its bytes, as they were appended.
  public var bytes: [UInt8]

  /// Makes a message.
  public init(position: UInt64, bytes: [UInt8]) {
    self.position = position
    self.bytes = bytes
  }
}
