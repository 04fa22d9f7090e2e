package import PandoModels

/// Makes models from the records of nodes.
///
/// - Note: One thread at a time.
@safe package final class TreeRecords {
  private let records: (String) throws -> NodeRecords
  private var identifiers: [String] = []
  private var numbers: [ByteString: UInt64] = [:]
  private var bodies: [UnsafeMutableRawBufferPointer] = unsafe []

  /// Makes a source of models.
  ///
  /// - Parameter records: Returns the records for an identifier.
  package init(_ records: @escaping (String) throws -> NodeRecords) { self.records = records }

  deinit { unsafe bodies.forEach { unsafe $0.deallocate() } }

  /// Makes a model with all its contents.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of its node.
  ///   - type: Its type.
  /// - Returns: The model.
  /// - Throws: `ModelError` if the records lack a node or do not match the type.
  package func model<Value: SimpleModel & Decodable>(
    _ identifier: String, as type: Value.Type
  ) throws -> Value {
    let root = reference(to: identifier)
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
    guard let record = found.record(of: type.modelTypeName) ?? found.records.last else {
      throw ModelError(
        .invalidRecord, identifier: identifier, typeName: type.modelTypeName,
        reason: "there is no such node")
    }
    let body = try record.body { self.reference(to: $0.identifier) }
    // Freed by `deinit`.
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: body.count, alignment: 8)
    unsafe bytes.copyBytes(from: body)
    unsafe bodies.append(unsafe bytes)
    return UnsafeRawBufferPointer(bytes)
  }

  package func identifier(of reference: RecordReference) -> String? {
    identifiers[Int(reference.node)]
  }

  package var hasEnded: Bool { false }

  private func reference(to identifier: String) -> RecordReference {
    let name = ByteString(identifier)
    let number = numbers[name] ?? UInt64(identifiers.count)
    if numbers.updateValue(number, forKey: name) == nil { identifiers.append(identifier) }
    return RecordReference(node: number, type: 0)
  }
}
