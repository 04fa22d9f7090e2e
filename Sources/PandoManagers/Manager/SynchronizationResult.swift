/// The result of a synchronization: see ``CoreManager/synchronize(accessValidator:)``.
///
/// ```swift
/// let done = try await books.synchronize()
/// print(done.kind, done.storedCount, "stored,", done.removedCount, "removed")
/// ```
public struct SynchronizationResult<E: Entity>: Sendable {
  /// The kinds of data that a synchronization requests.
  public enum Kind: Sendable, Hashable {
    /// Everything: there was no cursor, or the last full synchronization was interrupted.
    case full
    /// The changes since the last synchronization.
    case incremental
    /// First the changes, then everything, because the server refused the cursor.
    case expired
  }

  /// The kind of the requested data.
  public internal(set) var kind: Kind = .incremental
  /// The number of stored pages.
  public internal(set) var pageCount = 0
  /// How often an entity of the server was stored, without entities that are newer locally.
  public internal(set) var storedCount = 0
  /// The number of removed local entities.
  public internal(set) var removedCount = 0
  /// The cursor of the next synchronization.
  public internal(set) var cursor: String?
  /// Entities that the server has removed and a `DeletionRule` keeps; the next synchronization tries
  /// again.
  public internal(set) var restricted: [EntityIdentifier<E>] = []
}
