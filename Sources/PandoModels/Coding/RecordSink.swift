/// Receives the nodes of a tree while it is encoded.
package protocol RecordSink: AnyObject {
  /// A node begins; its parents have begun before it.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - identifier: Its identifier, not empty.
  ///   - value: The model itself; asking for it copies it.
  /// - Returns: The numbers that references to it carry.
  /// - Throws: Anything, to refuse the tree.
  func beginNode(
    _ type: any SimpleModel.Type, identifier: String, value: @autoclosure () -> any SimpleModel
  ) throws -> RecordReference

  /// The body of a node is complete; those of its children came before.
  ///
  /// - Parameters:
  ///   - reference: What ``beginNode(_:identifier:value:)`` returned.
  ///   - body: The record's bytes, valid during the call.
  ///   - edges: One for each distinct child, sorted by child.
  /// - Throws: Anything, to refuse the tree.
  func endNode(
    _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) throws
}
