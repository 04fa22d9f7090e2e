/// Makes untyped trees of records.
///
/// A node that occurs in several places is decoded once and shared, so a tree takes no more memory
/// than its nodes, however often they occur in it.
package struct TreeDecoder {
  /// Finds the record of a reference.
  package typealias Resolver = (RecordReference) throws -> TreeRecord

  private struct Key: Hashable {
    let reference: RecordReference
    let depth: Int
  }

  /// A value, and how many levels it has.
  struct Decoded {
    var value: TreeValue
    var height = 0
    var hasReference = false
  }

  private var nodes: [Key: Decoded] = [:]

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
  ///   than `RecordBody.maximumNestingDepth`; or what `resolve` throws.
  package mutating func value(
    of body: UnsafeRawBufferPointer, depth: Int = .max, resolve: Resolver
  ) throws -> TreeValue {
    unsafe try value(of: body, depth: depth, level: 0, resolve).value
  }

  /// Decodes a node.
  ///
  /// - Parameters:
  ///   - reference: The numbers of the node.
  ///   - depth: How many levels of nodes below the node to decode.
  ///   - resolve: Finds the records of the node and its children.
  /// - Returns: The node, or a reference when it has no body.
  /// - Throws: As for a body.
  package mutating func node(
    _ reference: RecordReference, depth: Int = .max, resolve: Resolver
  ) throws -> TreeValue {
    try node(reference, depth: depth, level: 0, resolve).value
  }

  /// Decodes what a reference refers to, or leaves it a reference.
  mutating func child(
    _ reference: RecordReference, depth: Int, level: Int, _ resolve: Resolver
  ) throws -> Decoded {
    guard depth > 0 else {
      let record = try resolve(reference)
      return Decoded(
        value: .reference(identifier: record.identifier, typeName: record.typeName))
    }
    // Without a limit all levels are alike.
    return try node(reference, depth: depth == .max ? .max : depth - 1, level: level, resolve)
  }

  private mutating func node(
    _ reference: RecordReference, depth: Int, level: Int, _ resolve: Resolver
  ) throws -> Decoded {
    let key = Key(reference: reference, depth: depth)
    if let known = nodes[key] {
      guard level + known.height <= RecordBody.maximumNestingDepth else {
        throw RecordCursor.tooDeep
      }
      return known
    }
    let record = try resolve(reference)
    var decoded: Decoded
    if let body = unsafe record.body {
      do {
        decoded = unsafe try value(of: body, depth: depth, level: level, resolve)
      } catch let error as ModelError {
        throw error.about(identifier: record.identifier, typeName: record.typeName)
      }
      let node = TreeNode(record.identifier, type: record.typeName, fields: decoded.value)
      decoded.value = .node(node)
    } else {
      decoded = Decoded(
        value: .reference(identifier: record.identifier, typeName: record.typeName))
    }
    nodes[key] = decoded
    return decoded
  }

  private mutating func value(
    of body: UnsafeRawBufferPointer, depth: Int, level: Int, _ resolve: Resolver
  ) throws -> Decoded {
    // The caller keeps the bytes valid during the call.
    var cursor = RecordCursor(unsafe Span(_unsafeBytes: body))
    let decoded = try item(&cursor, .root, depth: depth, level: level, resolve)
    guard cursor.isAtEnd else { throw cursor.damaged("more than one item") }
    return decoded
  }
}
