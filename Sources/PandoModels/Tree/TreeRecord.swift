/// The record of one node, as a ``TreeDecoder`` needs it.
///
/// Whoever makes one promises that the body stays valid.
@safe package struct TreeRecord {
  /// The node's identifier.
  package var identifier: String

  /// The name of the node's type.
  package var typeName: String

  /// The record's body, which stays valid until the decoder is done; `nil` leaves the node a
  /// reference.
  package var body: UnsafeRawBufferPointer?

  /// Makes the record of a node.
  ///
  /// - Parameters:
  ///   - identifier: The node's identifier.
  ///   - typeName: The name of the node's type.
  ///   - body: The record's body, which stays valid until the decoder is done, or `nil`.
  package init(identifier: String, typeName: String, body: UnsafeRawBufferPointer?) {
    self.identifier = identifier
    self.typeName = typeName
    unsafe self.body = body
  }
}
