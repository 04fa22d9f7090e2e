/// The progress of long work on a store: a check, a copy, a dump or a migration.
///
/// ```swift
/// let report = try store.verify { progress in
///   print(progress.stage, Int(progress.fraction * 100), "%")
/// }
/// ```
public struct StoreProgress: Sendable {
  /// The kinds of work, which count different things.
  public enum Stage: Hashable, Sendable {
    /// A check of the pages of the file.
    case pages
    /// A check of nodes and their records.
    case records
    /// A check of the rows of the dependency index.
    case edges
    /// A check of collections and their elements.
    case collections
    /// A copy; it counts each byte twice: when it writes it, and when it checks it.
    case copy
    /// A dump, which counts nodes.
    case dump
    /// A ``Migration``, which counts records.
    case migration(typeName: String, version: Int)
  }

  /// The kind of the work.
  public let stage: Stage
  /// The number of units done.
  public let completedCount: Int
  /// The total, as known when the stage started; never less than the number done.
  public let totalCount: Int

  package init(_ stage: Stage, _ completed: Int, of total: Int) {
    self.stage = stage
    completedCount = completed
    totalCount = max(completed, total)
  }

  /// The share that is done, from 0 to 1.
  public var fraction: Double { totalCount == 0 ? 1 : Double(completedCount) / Double(totalCount) }
}
