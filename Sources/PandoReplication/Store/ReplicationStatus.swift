public import PandoStore

/// How far a replicated store is.
///
/// ```swift
/// let status = boards.status
/// if status.isStopped, let reason = status.failure {
///   print("stopped at position \(status.position): \(reason)")
/// }
/// ```
public struct ReplicationStatus: Sendable {
  /// The position of the log up to which the store has taken it in.
  public var position: UInt64
  /// The last position that the store has heard of.
  public var end: UInt64
  /// Why the last try to look at the log, or to take something in, failed; `nil` if it did not.
  public var failure: StoreError?
  /// Why the last copy could not be put beside the log; `nil` if it could, or none was due.
  public var snapshotFailure: StoreError?
  /// Whether the store has stopped writing and taking in, for the reason in ``failure``.
  public var isStopped: Bool
  /// The identity of the log, 32 hexadecimal digits.
  ///
  /// Each look at the log compares it, as long as the log keeps its first
  /// message; another one stops the store as `logLost`.
  public var log: String
  /// When the log last answered, or announced a message; `nil` if it has not yet.
  ///
  /// It is looked at every two seconds.
  public var lastHeard: ContinuousClock.Instant?
  /// How old the newest copy beside the log is, by the log's clock; `nil` if there is none, or that is not known yet.
  ///
  /// It is
  /// looked at once a minute.
  public var snapshotAge: Duration?
  /// What the log does not promise as it is set up: see ``ReplicationLog/warnings``.
  public var warnings: [String]
  /// How many writes were judged since the store was opened.
  public var judgedCount: Int
  /// How many of them were refused.
  public var refusedCount: Int
  /// How many messages of the log were malformed.
  public var malformedCount: Int
  /// How many entries were made from another history than the log's, by a machine that has to be looked at; all leave them
  /// out.
  public var foreignCount: Int
  /// How often the store was made equal to a copy, because the log did not keep what it needed.
  public var replacedCount: Int
}
