/// How a store differs from what the log of its machines says it should be.
///
/// ```swift
/// let comparison = try await ReplicatedStore.compare(path: "data", log: log)
/// if comparison.differenceCount > 0 { print("differs in", comparison.differences) }
/// ```
public struct ReplicaComparison: Hashable, Sendable {
  /// The position at which both were compared.
  public var position: UInt64
  /// The position of the copy beside the log with which the comparison began.
  public var copyPosition: UInt64
  /// How many types, nodes and lists differ.
  public var differenceCount: Int
  /// The first hundred of them, as a dump names them: identifiers, cache keys, type names.
  public var differences: [String]
}
