/// Splits untyped trees into records.
///
/// The bytes are those that ``RecordEncoder`` makes of a Swift value with the same content. What is
/// open lies on a stack of the encoder's own: a deep tree cannot exhaust the thread's.
package struct TreeEncoder: ~Copyable {
  let sink: any TreeSink
  var frames: [Frame] = []
  /// The records that are being written; the last one is of the innermost node, or of a key.
  var records: [TreeRecordWriter] = []
  /// Records that were written, to be used again.
  private var spareRecords: [TreeRecordWriter] = []
  /// How many of the open frames of the innermost node are arrays, maps and tags.
  var level = 0
  /// The identifiers of the open nodes, outermost first.
  var openNodes: [String] = []

  /// Makes an encoder.
  ///
  /// - Parameter sink: What takes the records.
  package init(sink: any TreeSink) {
    self.sink = sink
  }

  /// Encodes a node and all it holds.
  ///
  /// - Parameter node: The node.
  /// - Returns: The numbers of the node.
  /// - Throws: ``ModelError`` with code `emptyIdentifier`, `cyclicModel`, `nestingTooDeep` or
  ///   `typeMismatch`, or what the sink throws. The sink may have taken nodes by then.
  package mutating func encode(_ node: TreeNode) throws -> RecordReference {
    let (_, edges) = try encodeValue(.node(node))
    guard let edge = edges.first else { preconditionFailure("a node is one reference") }
    return edge.child
  }

  /// Encodes a value that belongs to no node, and all nodes it holds.
  ///
  /// - Parameter value: The value, for instance an element of a collection.
  /// - Returns: The bytes of the value, and the children they refer to.
  /// - Throws: As for a node.
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

  /// Takes the innermost record out, with its edges in order.
  mutating func popRecord() -> TreeRecordWriter {
    let record = records.removeLast()
    record.edges.normalize()
    return record
  }

  /// Keeps a record that is done with to write another one.
  mutating func recycle(_ record: TreeRecordWriter) {
    record.reset()
    spareRecords.append(record)
  }

  var record: TreeRecordWriter { records[records.count - 1] }

  /// Says in which node and field an error was met.
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

extension TreeEncoder {
  /// Something that is open: its values are being written.
  struct Frame {
    enum Kind {
      /// The value that was given to the encoder.
      case root
      /// A node, in its own record, and how the record around it refers to it.
      case node(TreeNode, RecordReference, RecordSlot, isRequired: Bool)
      case array
      case object(isOptional: Bool)
      /// The keys of entries, each in a record of its own; the values come later.
      case keys([TreeValue])
      case entries
      case tag(UInt64)

      /// Whether it counts as a level of nesting.
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
    /// Where its bytes begin in the record.
    var start = 0
    /// The level around a node.
    var outerLevel = 0
    /// Which value comes next.
    var next = 0
    var hasReference = false

    /// Where its values stand.
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
