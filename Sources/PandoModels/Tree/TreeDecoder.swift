/// Makes untyped trees of records.
///
/// A node that occurs in several places is decoded once and shared, so a tree takes no more memory
/// than its nodes, however often they occur in it. A decoder therefore belongs to one snapshot.
package struct TreeDecoder {
  /// Finds the record of a reference.
  package typealias Resolver = (RecordReference) throws -> TreeRecord

  private var builder = TreeBuilder()

  /// Makes a decoder.
  package init() {}

  /// Decodes a body.
  ///
  /// - Parameters:
  ///   - body: The body of a record, or the bytes of a value; read during the call only.
  ///   - depth: How many levels of nodes below the body to decode; zero leaves its children
  ///     references.
  ///   - resolve: Finds the records of children, also of those that stay references.
  /// - Returns: The value, in canonical form.
  /// - Throws: ``ModelError`` when the bytes are no record body, or when the tree is nested deeper
  ///   than ``RecordBody/maximumNestingDepth``; or what `resolve` throws.
  package mutating func value(
    of body: UnsafeRawBufferPointer, depth: Int = .max, resolve: Resolver
  ) throws -> TreeValue {
    builder.reset()
    unsafe builder.open(body, depth: depth)
    return try builder.run(resolve)
  }

  /// Decodes a node.
  ///
  /// - Parameters:
  ///   - reference: The numbers of the node.
  ///   - depth: How many levels of nodes below the node to decode; zero leaves its children
  ///     references.
  ///   - resolve: Finds the records of the node and its children.
  /// - Returns: The node, or a reference when it has no body.
  /// - Throws: As for a body.
  package mutating func node(
    _ reference: RecordReference, depth: Int = .max, resolve: Resolver
  ) throws -> TreeValue {
    builder.reset()
    if let value = try builder.open(reference, depth: depth, isRequired: false, resolve) {
      return value
    }
    return try builder.run(resolve)
  }
}
