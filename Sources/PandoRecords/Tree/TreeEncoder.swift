package import PandoModels

/// Splits untyped trees into records.
///
/// The bytes equal those of ``RecordEncoder`` for a Swift value with the same content. Open values
/// are on a separate stack, so a deep tree cannot exhaust the thread's.
package struct TreeEncoder: ~Copyable {
  let sink: any TreeSink
  var frames: [Frame] = []
  /// The records being written; the last one is that of the innermost node, or of a key.
  var records: [TreeRecordWriter] = []
  /// Written records for reuse.
  private var spareRecords: [TreeRecordWriter] = []
  /// The number of arrays, maps and tags among the open frames of the innermost node.
  var level = 0
  /// The identifiers of the open nodes, outermost first.
  var openNodes: [String] = []

  /// Makes an encoder.
  ///
  /// - Parameter sink: The receiver of the records.
  package init(sink: any TreeSink) {
    self.sink = sink
  }

  /// Encodes a node with all its contents.
  ///
  /// - Parameter node: The node.
  /// - Returns: The numbers of the node.
  /// - Throws: `ModelError` with code `emptyIdentifier`, `cyclicModel`, `nestingTooDeep` or
  ///   `typeMismatch`, or the error of the sink, which may have received nodes before.
  package mutating func encode(_ node: TreeNode) throws -> RecordReference {
    let (_, edges) = try encodeValue(.node(node))
    guard let edge = edges.first else { preconditionFailure("a node is one reference") }
    return edge.child
  }

  /// Encodes a value that belongs to no node, with all nodes in it.
  ///
  /// - Parameter value: The value, for instance an element of a collection.
  /// - Returns: The bytes of the value, and its children.
  /// - Throws: Same as for a node.
  package mutating func encodeValue(
    _ value: TreeValue
  ) throws -> (body: [UInt8], edges: [RecordEdge]) {
    frames.removeAll()
    records.removeAll()
    level = 0
    openNodes.removeAll()
    pushRecord()
    frames.append(Frame(kind: .root, values: [value]))
    do {
      while let last = frames.indices.last {
        if frames[last].next < frames[last].values.count {
          try writeNext(of: last)
        } else {
          try close(frames[last])
        }
      }
    } catch let error as ModelError {
      throw about(error)
    }
    let record = popRecord()
    return (record.output.bytes, record.edges)
  }

  mutating func pushRecord() {
    records.append(spareRecords.popLast() ?? TreeRecordWriter())
  }

  /// Removes the innermost record and sorts its edges.
  mutating func popRecord() -> TreeRecordWriter {
    let record = records.removeLast()
    record.edges.normalize()
    return record
  }

  /// Keeps a finished record for reuse.
  mutating func recycle(_ record: TreeRecordWriter) {
    record.reset()
    spareRecords.append(record)
  }

  var record: TreeRecordWriter { records[records.count - 1] }

  /// Adds the node and the field to an error.
  private func about(_ error: ModelError) -> ModelError {
    var error = error
    for frame in frames.reversed() {
      switch frame.kind {
      case .object: error = error.inside(frame.names[frame.next - 1])
      case .array: error = error.inside("[\(frame.next - 1)]")
      case .node(let node, _, _, _):
        error = error.about(identifier: node.identifier, typeName: node.typeName)
      case .root, .keys, .entries, .tag: break
      }
    }
    return error
  }
}

/// Receives the records of a ``TreeEncoder``.
package protocol TreeSink: AnyObject {
  /// Called at the beginning of a node, before the nodes in it.
  ///
  /// - Parameters:
  ///   - identifier: The node's identifier, never empty.
  ///   - typeName: The name of its type.
  /// - Returns: The numbers for references to the node.
  /// - Throws: Any error, to refuse the whole tree.
  func beginNode(identifier: String, typeName: String) throws -> RecordReference

  /// Called for a node given as a reference, without content.
  ///
  /// - Parameters:
  ///   - identifier: The node's identifier, never empty.
  ///   - typeName: The name of its type.
  /// - Returns: The numbers for references to the node.
  /// - Throws: Any error, to refuse the reference, for instance if there is no such node.
  func reference(identifier: String, typeName: String) throws -> RecordReference

  /// Called with the complete body of a node, after those of the nodes in it.
  ///
  /// - Parameters:
  ///   - reference: The result of ``beginNode(identifier:typeName:)``.
  ///   - body: The body; valid during the call only.
  ///   - edges: The children in the body, as from ``RecordBody/edges(in:)``.
  /// - Throws: Any error, to refuse the whole tree.
  func endNode(_ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge])
    throws
}

extension TreeEncoder {
  /// An open value, whose inner values are being written.
  ///
  /// `values` with `names` or `keys` are the input, and `next` is the index of the next one.
  /// `start`, `outerLevel` and `hasReference` are for its end.
  struct Frame {
    enum Kind {
      /// The value given to the encoder.
      case root
      /// A node in a record of its own, and its reference in the outer record.
      case node(TreeNode, RecordReference, RecordSlot, isRequired: Bool)
      case array
      case object(isOptional: Bool)
      /// The keys of entries, each in a record of its own; the values follow.
      case keys([TreeValue])
      case entries
      case tag(UInt64)

      /// Whether it is a level of nesting.
      var isLevel: Bool {
        switch self {
        case .root, .node, .keys: false
        case .array, .object, .entries, .tag: true
        }
      }
    }

    let kind: Kind
    let values: [TreeValue]
    /// The names of an object's fields.
    var names: [String] = []
    /// The encoded keys of entries.
    var keys: [[UInt8]] = []
    /// The position of its first byte in the record.
    var start = 0
    /// The level around a node.
    var outerLevel = 0
    /// The index of the next value.
    var next = 0
    var hasReference = false

    /// The slot of its values.
    var slot: RecordSlot {
      switch kind {
      case .root, .node: .root
      case .object: .field
      case .entries: .entry
      case .array, .keys, .tag: .element
      }
    }
  }

  mutating func push(
    _ kind: Frame.Kind, _ values: [TreeValue], names: [String] = [], keys: [[UInt8]] = []
  ) throws(ModelError) {
    if kind.isLevel {
      guard level < RecordLimits.maximumNestingDepth else {
        throw ModelError(
          .nestingTooDeep,
          reason: "nested deeper than \(RecordLimits.maximumNestingDepth) levels in one node")
      }
      level += 1
    }
    let start = record.output.count
    frames.append(
      Frame(kind: kind, values: values, names: names, keys: keys, start: start, outerLevel: level))
    if case .node(let node, _, _, _) = kind {
      openNodes.append(node.identifier)
      level = 0
    }
  }
}
