/// The result of comparing a store with the log of its machines.
///
/// ```swift
/// let comparison = try await ReplicatedStore.compare(path: "data", log: log)
/// if comparison.differenceCount > 0 { print("differs in", comparison.differences) }
/// ```
public struct ReplicaComparison: Hashable, Sendable {
  /// The position at which the two were compared.
  public var position: UInt64
  /// The position of the copy in the log with which the comparison began.
  public var copyPosition: UInt64
  /// The number of types, nodes and lists that differ.
  public var differenceCount: Int
  /// The first hundred differences, as a dump names them: identifiers, cache keys, type names.
  public var differences: [String]
}
