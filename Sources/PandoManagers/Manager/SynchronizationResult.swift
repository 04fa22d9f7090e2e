/// What a synchronization has done: see ``CoreManager/synchronize(accessValidator:)``.
///
/// ```swift
/// let done = try await books.synchronize()
/// print(done.kind, done.storedCount, "stored,", done.removedCount, "removed")
/// ```
public struct SynchronizationResult<E: Entity>: Sendable {
  /// What was asked for.
  public enum Kind: Sendable, Hashable {
    /// All there is: there was no cursor, or the last reading of all had been cut off.
    case full
    /// What has changed since the last time.
    case incremental
    /// First what has changed, and then all there is, because the server did not know the cursor any more.
    case expired
  }

  /// What was asked for.
  public internal(set) var kind: Kind = .incremental
  /// How many pages were stored.
  public internal(set) var pageCount = 0
  /// How many times an entity was stored as the server has it; those that are newer here are not counted.
  public internal(set) var storedCount = 0
  /// How many entities were removed here.
  public internal(set) var removedCount = 0
  /// What the next synchronization will ask by.
  public internal(set) var cursor: String?
  /// What the server has removed and a `DeletionRule` keeps here; the next synchronization tries it again.
  public internal(set) var restricted: [EntityIdentifier<E>] = []
}
