package import PandoModels

/// Makes untyped trees from records.
///
/// A node that occurs in several places is decoded once and shared, so a tree needs only the memory
/// of its distinct nodes. A decoder therefore belongs to one snapshot.
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
  ///   - depth: The number of levels of nodes to decode below the body; with zero its children are
  ///     references.
  ///   - resolve: Finds the records of children, including those that stay references.
  /// - Returns: The value, in canonical form.
  /// - Throws: `ModelError` if the bytes are no record body, or if nodes are nested deeper than
  ///   ``RecordLimits/maximumNodeDepth``; or the error of `resolve`.
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
  ///   - depth: The number of levels of nodes to decode below the node; with zero its children are
  ///     references.
  ///   - resolve: Finds the records of the node and its children.
  /// - Returns: The node; a reference if it has no body.
  /// - Throws: Same as for a body.
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

/// The record of a node for a ``TreeDecoder``.
///
/// The caller that makes a record guarantees that its body stays valid.
@safe package struct TreeRecord {
  /// The node's identifier.
  package var identifier: String

  /// The name of the node's type.
  package var typeName: String

  /// The record's body, valid until the end of the decoding; `nil` makes the node a reference.
  package var body: UnsafeRawBufferPointer?

  /// Makes the record of a node.
  ///
  /// - Parameters:
  ///   - identifier: The node's identifier.
  ///   - typeName: The name of the node's type.
  ///   - body: The record's body, valid until the end of the decoding, or `nil`.
  package init(identifier: String, typeName: String, body: UnsafeRawBufferPointer?) {
    self.identifier = identifier
    self.typeName = typeName
    unsafe self.body = body
  }
}

extension TreeBuilder {
  /// Makes the value of a frame with all its items.
  func contents(of frame: Frame) throws(RecordFault) -> TreeValue {
    switch frame.kind {
    case .body, .node:
      return values[frame.start]
    case .array:
      return .array(Array(values[frame.start...]))
    case .object:
      return try object(frame)
    case .entries:
      return .entries(try entries(frame))
    case .tag(let tag):
      guard !frame.hasReference else { throw damaged("a reference inside of a tag") }
      if tag == RecordTag.positiveBignum || tag == RecordTag.negativeBignum {
        guard case .bytes = values[frame.start] else {
          throw damaged("a big integer that is no byte string")
        }
      }
      return .tagged(tag, values[frame.start])
    }
  }

  /// Makes an object of a map if all its keys are texts.
  private func object(_ frame: Frame) throws(RecordFault) -> TreeValue {
    var fields = [String: TreeValue](minimumCapacity: (values.count - frame.start) / 2)
    for index in stride(from: frame.start, to: values.count, by: 2) {
      // Two spellings of one name are equal as keys of texts, but not as keys of entries.
      guard case .string(let name) = values[index],
        fields.updateValue(values[index + 1], forKey: name) == nil
      else {
        guard !frame.hasReference else {
          throw damaged("an object whose names are no texts, or occur twice")
        }
        return .entries(try entries(frame))
      }
    }
    return .object(fields)
  }

  private func entries(_ frame: Frame) throws(RecordFault) -> [TreeValue: TreeValue] {
    var entries = [TreeValue: TreeValue](minimumCapacity: (values.count - frame.start) / 2)
    for index in stride(from: frame.start, to: values.count, by: 2) {
      guard entries.updateValue(values[index + 1], forKey: values[index]) == nil else {
        throw damaged("a map that has one key twice")
      }
    }
    return entries
  }
}
