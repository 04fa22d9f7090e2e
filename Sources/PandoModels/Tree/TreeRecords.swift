/// Makes models from the untyped records of nodes.
///
/// - Note: One thread at a time.
@safe package final class TreeRecords {
  private let records: (String) throws -> [TreeNode]
  private var identifiers: [String] = []
  private var numbers: [ByteString: UInt64] = [:]
  private var bodies: [UnsafeMutableRawBufferPointer] = unsafe []

  /// Makes a source of models.
  ///
  /// - Parameter records: Returns the records for an identifier, with children as references.
  package init(_ records: @escaping (String) throws -> [TreeNode]) { self.records = records }

  deinit { unsafe bodies.forEach { unsafe $0.deallocate() } }

  /// Makes a model with all its contents.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of its node.
  ///   - type: Its type.
  /// - Returns: The model.
  /// - Throws: ``ModelError`` if the records lack a node or do not match the type.
  package func model<Value: SimpleModel & Decodable>(
    _ identifier: String, as type: Value.Type
  ) throws -> Value {
    let root = reference(identifier: identifier, typeName: type.modelTypeName)
    // The bytes live as long as this object, which the decoder retains.
    return try unsafe RecordDecoder(source: self).decode(type, from: body(of: root, as: type))
  }
}

extension TreeRecords: RecordSource {
  package func body(
    of reference: RecordReference, as type: any SimpleModel.Type
  ) throws -> UnsafeRawBufferPointer {
    let identifier = identifiers[Int(reference.node)]
    let found = try records(identifier)
    guard let record = found.record(of: type.modelTypeName) ?? found.last else {
      throw ModelError(
        .invalidRecord, identifier: identifier, typeName: type.modelTypeName,
        reason: "there is no such node")
    }
    var encoder = TreeEncoder(sink: self)
    _ = try encoder.encode(record)
    guard let body = unsafe bodies.last else { preconditionFailure("a record has a body") }
    return UnsafeRawBufferPointer(body)
  }

  package func identifier(of reference: RecordReference) -> String? {
    identifiers[Int(reference.node)]
  }

  package var hasEnded: Bool { false }
}

extension TreeRecords: TreeSink {
  package func beginNode(identifier: String, typeName: String) -> RecordReference {
    reference(identifier: identifier, typeName: typeName)
  }

  package func reference(identifier: String, typeName: String) -> RecordReference {
    let name = ByteString(identifier)
    let number = numbers[name] ?? UInt64(identifiers.count)
    if numbers.updateValue(number, forKey: name) == nil { identifiers.append(identifier) }
    return RecordReference(node: number, type: 0)
  }

  package func endNode(
    _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) {
    // Deallocated in `deinit`.
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: body.count, alignment: 8)
    unsafe bytes.copyMemory(from: body)
    unsafe bodies.append(unsafe bytes)
  }
}

extension [TreeNode] {
  /// The record of a type.
  package func record(of typeName: String) -> TreeNode? {
    first { $0.typeName.hasSameBytes(as: typeName) }
  }
}
