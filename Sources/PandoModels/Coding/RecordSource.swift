/// Gives a decoder the records that a record refers to.
package protocol RecordSource: AnyObject {
  /// The bytes of the record to decode `type` from: the type's own record, else the node's newest.
  ///
  /// - Parameters:
  ///   - reference: What the record says.
  ///   - type: The type that is wanted.
  /// - Returns: Bytes that are valid until the source ends.
  /// - Throws: When there is no such record, or the source has ended.
  func body(
    of reference: RecordReference, as type: any SimpleModel.Type
  ) throws -> UnsafeRawBufferPointer

  /// The identifier of a node, for messages; `nil` if it can't be told.
  func identifier(of reference: RecordReference) -> String?

  /// Whether the bytes are no longer valid.
  var hasEnded: Bool { get }
}

extension RecordSource {
  package func identifier(of reference: RecordReference) -> String? { nil }
}
