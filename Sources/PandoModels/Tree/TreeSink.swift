/// What takes the records that a ``TreeEncoder`` makes.
package protocol TreeSink: AnyObject {
  /// A node begins, before the nodes it holds.
  ///
  /// - Parameters:
  ///   - identifier: The node's identifier, never empty.
  ///   - typeName: The name of its type.
  /// - Returns: The numbers that references to the node carry.
  /// - Throws: To refuse the node, and with it the whole tree.
  func beginNode(identifier: String, typeName: String) throws -> RecordReference

  /// A node is referred to, and its content is not given.
  ///
  /// - Parameters:
  ///   - identifier: The node's identifier, never empty.
  ///   - typeName: The name of its type.
  /// - Returns: The numbers that references to the node carry.
  /// - Throws: To refuse the reference, for instance because there is no such node.
  func reference(identifier: String, typeName: String) throws -> RecordReference

  /// A node's body is complete; the bodies of the nodes it holds came before.
  ///
  /// - Parameters:
  ///   - reference: What ``beginNode(identifier:typeName:)`` returned.
  ///   - body: The body; valid during the call only.
  ///   - edges: The children the body refers to, as ``RecordBody/edges(in:)`` gives them.
  /// - Throws: To refuse the node, and with it the whole tree.
  func endNode(_ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge])
    throws
}
