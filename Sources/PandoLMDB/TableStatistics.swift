/// Sizes of a table in one version.
public struct TableStatistics: Sendable, Hashable {
  /// How many keys it has.
  public let count: Int
  /// How many pages a lookup visits.
  public let depth: Int
  /// Pages that hold keys and page numbers.
  public let branchPageCount: Int
  /// Pages that hold keys and values.
  public let leafPageCount: Int
  /// Pages that hold one long value, or a part of it.
  public let overflowPageCount: Int
  /// All pages together, in bytes.
  public let sizeInBytes: Int
}
