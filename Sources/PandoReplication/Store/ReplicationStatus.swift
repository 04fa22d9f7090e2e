public import PandoStore

/// The progress of a replicated store.
///
/// ```swift
/// let status = boards.status
/// if status.isStopped, let reason = status.failure {
///   print("stopped at position \(status.position): \(reason)")
/// }
/// ```
public struct ReplicationStatus: Sendable {
  /// The position up to which the store has applied the log.
  public var position: UInt64
  /// The last position of the log that the store has received.
  public var end: UInt64
  /// The error of the last attempt to read or apply the log; `nil` if it succeeded.
  public var failure: StoreError?
  /// The error of the last copy that the store could not put into the log; `nil` if the copy succeeded, or none was
  /// due.
  public var snapshotFailure: StoreError?
  /// Whether the store has stopped writing and applying, for the reason in ``failure``.
  public var isStopped: Bool
  /// The identity of the log, 32 hexadecimal digits.
  ///
  /// Each look at the log compares the identity, as long as the log keeps its first message. A log with another
  /// identity stops the store as `logLost`.
  public var log: String
  /// The time of the log's last answer or notification; `nil` before the first one.
  ///
  /// The store contacts the log every two seconds.
  public var lastHeard: ContinuousClock.Instant?
  /// The age of the newest copy in the log, by the log's clock; `nil` if there is none, or the age is not known yet.
  ///
  /// The store updates the age once a minute.
  public var snapshotAge: Duration?
  /// The guarantees that the log does not give as it is configured: see ``ReplicationLog/warnings``.
  public var warnings: [String]
  /// The number of writes that were judged since the store was opened.
  public var judgedCount: Int
  /// The number of those that were refused.
  public var refusedCount: Int
  /// The number of malformed messages of the log.
  public var malformedCount: Int
  /// The number of entries from another history than the log's.
  ///
  /// All machines ignore such entries; check the machine that made them.
  public var foreignCount: Int
  /// How often the store was replaced by a copy, because the log no longer had the next messages.
  public var replacedCount: Int
}
