/// Which record a child is: the numbers that the store gave its identifier and its type.
package struct RecordReference: Hashable, Sendable {
  /// The number of the identifier.
  package let node: UInt64
  /// The number of the model type.
  package let type: UInt32

  package init(node: UInt64, type: UInt32) {
    self.node = node
    self.type = type
  }
}
