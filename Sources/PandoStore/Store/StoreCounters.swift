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
