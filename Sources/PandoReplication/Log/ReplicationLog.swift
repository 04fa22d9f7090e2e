/// A log that keeps messages in one order for all its readers; an engine stores it.
///
/// The engine needs total order, an acknowledgement, and replay from a position. All calls block.
/// ``append(_:named:expecting:)`` and ``messages(after:limit:)`` are called on the thread that leads the writes of a
/// store. All other calls may come from any thread, at the same time. If a log does not implement ``message(at:)``, any
/// thread may also call ``messages(after:limit:)``.
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
  ///   - message: The bytes of the message.
  ///   - name: The name of the message; of two messages with the same name the engine may drop the later one.
  ///   - end: The required position of the last message; the log refuses the message at any other end. `nil` for no
  ///     requirement.
  /// - Returns: The position of the message; positions begin at 1 and have no gaps.
  /// - Throws: ``LogFault``.
  func append(_ message: [UInt8], named name: String, expecting end: UInt64?) throws -> UInt64

  /// Reads the next messages.
  ///
  /// - Parameters:
  ///   - position: The position after which the messages begin.
  ///   - limit: The largest number of messages.
  /// - Returns: The messages in order, without a gap; empty at the end of the log.
  /// - Throws: ``LogFault``, `gone` if the log no longer has the first of them.
  func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage]

  /// Reads one message as the engine has it now.
  ///
  /// A store checks in this way whether the log still has the applied messages.
  ///
  /// - Parameter position: The position, from 1.
  /// - Returns: The message; `nil` if the log does not have it, or no longer.
  /// - Throws: ``LogFault``.
  func message(at position: UInt64) throws -> LoggedMessage?

  /// How often the log was silent for a while, or was reached over a new connection.
  ///
  /// The log may have lost messages each time, so a store compares itself with the log before its next write.
  var interruptionCount: UInt64 { get }

  /// The position of the last message, 0 if there is none.
  ///
  /// - Throws: ``LogFault``.
  func end() throws -> UInt64

  /// Stores a copy of a store in the log.
  ///
  /// - Parameters:
  ///   - position: The position up to which the store had applied the log.
  ///   - nextPart: Returns the parts of the copy one after another, then `nil`.
  /// - Throws: ``LogFault``, and errors of `nextPart`.
  func putSnapshot(at position: UInt64, _ nextPart: () throws -> [UInt8]?) throws

  /// Reads the newest copy of a store: the one that was put last.
  ///
  /// - Parameter body: Receives the parts one after another.
  /// - Returns: The position up to which the store had applied the log; `nil` if there is no copy.
  /// - Throws: ``LogFault``, and errors of `body`.
  func readSnapshot(_ body: ([UInt8]) throws -> Void) throws -> UInt64?

  /// The position of the newest copy of a store; `nil` if there is none.
  ///
  /// - Throws: ``LogFault``.
  func snapshotPosition() throws -> UInt64?

  /// The part of the log's limits that the messages since a position use: of the kept time or of the kept bytes, the
  /// larger one.
  ///
  /// - Parameter position: The position.
  /// - Returns: 0 at the end of the log, and for a log that keeps all messages; about 1 for the first kept message, and
  ///   more if the log no longer has the message at the position.
  /// - Throws: ``LogFault``.
  func retentionUsed(since position: UInt64) throws -> Double

  /// Calls a closure for new messages, in place of the closure of an earlier call.
  ///
  /// - Parameter onEnd: Gets the position of a stored message, on a thread of the log. It must not block, and must not
  ///   call the log. Positions may be skipped, late or repeated, but the last one always arrives. The log may call it
  ///   while ``close()`` runs, and not afterwards.
  func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void)

  /// The age of the newest copy of a store, by the clock of the log.
  ///
  /// - Returns: The age; `nil` if there is no copy, or the log does not record it.
  /// - Throws: ``LogFault``.
  func snapshotAge() throws -> Duration?

  /// The guarantees that the log does not give as it is configured, one sentence each, for operators.
  var warnings: [String] { get }

  /// Closes the connection and ends any waiting call; later calls throw.
  func close()
}

extension ReplicationLog {
  /// Reads the message with ``messages(after:limit:)``.
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

  /// 0: the log does not count interruptions.
  public var interruptionCount: UInt64 { 0 }

  /// `nil`: the log does not record the age.
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
