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
  /// How many of the open frames are arrays, maps and tags.
  var level = 0

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
