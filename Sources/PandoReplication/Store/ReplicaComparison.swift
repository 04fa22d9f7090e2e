/// The result of comparing a store with the log of its machines.
package struct ReplicaComparison: Hashable, Sendable {
  /// The position at which the two were compared.
  package var position: UInt64
  /// The position of the copy in the log with which the comparison began.
  package var copyPosition: UInt64
  /// The number of types, nodes and lists that differ.
  package var differenceCount: Int
  /// The first hundred differences, as a dump names them: identifiers, cache keys, type names.
  package var differences: [String]
}
