/// Something that a service may want to log or count.
///
/// Given to the `events` closure of ``ModelStore/Configuration``; the set may grow.
public enum StoreEvent: Sendable {
  /// A flush took longer than `slowCommitThreshold`.
  case slowCommit(duration: Duration, writeCount: Int)
  /// The memory map was full and has been grown.
  case mapGrown(sizeInBytes: Int)
  /// Reader slots of processes that have died were freed.
  case staleReadersCleared(count: Int)
  /// A write failed; its caller has the error too.
  case failedWrite(any Error)
  /// One tree held an identifier twice with different content; the last in traversal order counts.
  case conflictingContent(identifier: String, typeName: String)
  /// A merge brought a field that the type can't decode; the field kept its old value.
  case fieldKept(identifier: String, typeName: String, field: String)
  /// The hand-written `forEach` of a model names other children than its coding (debug builds).
  case childrenDisagree(identifier: String, typeName: String)
}

/// How often things have happened since the store was opened.
public struct StoreCounters: Hashable, Sendable {
  /// Writes that were committed.
  public internal(set) var writes = 0
  /// Shared transactions that ended well; one serves several writes, and flushes what they changed.
  public internal(set) var flushes = 0
  /// Writes that failed or whose closure threw.
  public internal(set) var failedWrites = 0
  /// Flushes slower than `slowCommitThreshold`.
  public internal(set) var slowCommits = 0
  /// Times that the memory map grew.
  public internal(set) var mapGrowths = 0
  /// Reader slots of dead processes that were freed.
  public internal(set) var staleReadersCleared = 0
  /// Trees that held an identifier twice with different content.
  public internal(set) var conflictingContents = 0
  /// Fields that kept their value in a merge because the type could not decode the new one.
  public internal(set) var keptFields = 0
}
