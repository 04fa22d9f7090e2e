import LMDB
import ModelCore

extension ModelSnapshot {
  /// Returns the number that the store has given a node: lower for nodes that it first saw earlier.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The number, or `nil` if there is no such node.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  package func nodeNumber(of identifier: String) throws -> UInt64? { try reader.node(identifier) }
}
