package import PandoModels

/// The records of a node on their own, as any store and any program can read them.
///
/// The references in their bodies carry names instead of the numbers that a store has given:
///
/// ```
/// reference = 20545 or 20546 ([identifier, type name])
/// ```
/// The same records have the same bytes, whatever store they come from.
package struct NodeRecords: Equatable, Sendable, Codable {
  /// A record: the name of its type and its body.
  package struct Record: Equatable, Sendable, Codable {
    package let typeName: String
    package var body: [UInt8]

    package static func == (left: Record, right: Record) -> Bool {
      left.typeName.hasSameBytes(as: right.typeName) && left.body == right.body
    }
  }

  /// The identifier and the type name that a reference contains.
  package typealias Name = (identifier: String, typeName: String)

  package var records: [Record] = []

  /// Makes the records of no node.
  package init() {}

  /// Whether there is no such node.
  package var isEmpty: Bool { records.isEmpty }

  /// The record of a type.
  package func record(of typeName: String) -> Record? {
    records.first { $0.typeName.hasSameBytes(as: typeName) }
  }

  /// Adds a record of a store.
  ///
  /// - Parameters:
  ///   - typeName: The name of its type.
  ///   - body: Its body; read during the call only.
  ///   - name: Returns the names for the numbers of a reference.
  /// - Throws: `ModelError` if the bytes are no record body; the errors of `name`.
  package mutating func append(
    _ typeName: String, _ body: UnsafeRawBufferPointer, name: (RecordReference) throws -> Name
  ) throws {
    let tape = try unsafe RecordTape(body)
    let named = try tape.replacing { place in
      guard case .reference(let isOptional) = tape[place].kind, let child = tape[place].reference
      else { return nil }
      return Record.reference(try name(child), isOptional: isOptional)
    }
    records.append(Record(typeName: typeName, body: named))
  }
}

extension NodeRecords.Record {
  /// Returns the body for a store, with numbers in place of the names of nodes and types.
  ///
  /// - Parameter number: Returns the numbers for a name.
  /// - Returns: The body.
  /// - Throws: `ModelError` if the bytes are no record body; the errors of `number`.
  package func body(number: (NodeRecords.Name) throws -> RecordReference) throws -> [UInt8] {
    try withTape { tape in
      try tape.replacing { place in
        guard case .reference(let isOptional) = tape[place].kind else { return nil }
        var output = CBORWriter(minimumCapacity: 24)
        output.append(reference: try number(Self.name(at: place, tape)), isOptional: isOptional)
        return output.bytes
      }
    }
  }

  /// The names of the nodes to which it refers.
  package var references: Set<ByteString> {
    get throws {
      try withTape { tape in
        try tape.items.indices.reduce(into: []) { found, place in
          guard case .reference = tape[place].kind else { return }
          found.insert(ByteString(try Self.name(at: place, tape).identifier))
        }
      }
    }
  }

  /// Whether an item in it looks like a value of an enum with payload.
  package var mayHoldCase: Bool {
    get throws { try withTape { tape in tape.items.indices.contains(where: tape.mayBeCase) } }
  }

  /// The texts that are whole values in it, such as the value of a field.
  package var texts: Set<ByteString> {
    get throws {
      try withTape { tape in
        try tape.items.indices.reduce(into: []) { found, place in
          var reader = unsafe CBORReader(tape.bytes(of: place))
          guard try reader.peek().major == .text else { return }
          found.insert(ByteString(try reader.text()))
        }
      }
    }
  }

  /// Applies the removal of nodes to a record.
  ///
  /// - Parameter isGone: Whether the node of an identifier is removed.
  /// - Returns: The body without references to them, or `lost`, as for a record in a store.
  /// - Throws: `ModelError` when the bytes are no record body.
  package func losing(_ isGone: (ByteString) -> Bool) throws -> RecordLoss {
    try withTape { tape in
      var pruner = try RecordPruner(tape) {
        isGone(ByteString(try Self.name(at: $0, tape).identifier))
      }
      return pruner.prune()
    }
  }

  /// Gives a node another identifier wherever the record refers to it or names it.
  ///
  /// - Parameters:
  ///   - old: The identifier of the node.
  ///   - new: Its identifier from now on.
  ///   - text: The text that names it as a value.
  ///   - value: The bytes of the item that replaces that text.
  /// - Throws: `ModelError` when the bytes are no record body.
  package mutating func rename(
    _ old: String, to new: String, _ text: String, to value: [UInt8]
  ) throws {
    var item = CBORWriter()
    item.append(text)
    let bytes = item.bytes
    body = try withTape { tape in
      try tape.replacing { place in
        guard case .reference(let isOptional) = tape[place].kind else {
          return unsafe tape.bytes(of: place).elementsEqual(bytes) ? value : nil
        }
        let name = try Self.name(at: place, tape)
        guard name.identifier.hasSameBytes(as: old) else { return nil }
        return Self.reference((new, name.typeName), isOptional: isOptional)
      }
    }
  }

  fileprivate static func reference(_ name: NodeRecords.Name, isOptional: Bool) -> [UInt8] {
    var output = CBORWriter()
    output.append(tag: isOptional ? RecordTag.optionalReference : RecordTag.requiredReference)
    output.append(arrayHead: 2)
    output.append(name.identifier)
    output.append(name.typeName)
    return output.bytes
  }

  private func withTape<Result>(_ body: (RecordTape) throws -> Result) throws -> Result {
    // The tape is used during the call only.
    try unsafe self.body.withUnsafeBytes { try body(unsafe RecordTape($0, isNamed: true)) }
  }

  private static func name(at place: Int, _ tape: RecordTape) throws -> NodeRecords.Name {
    var reader = unsafe CBORReader(tape.bytes(of: place))
    _ = try reader.tag()
    _ = try reader.arrayHead()
    return (try reader.text(), try reader.text())
  }
}

extension NodeRecords {
  /// Returns the records as they are after the removal of some nodes.
  ///
  /// - Parameter isGone: Whether the node of an identifier is removed.
  /// - Returns: The remaining records; `nil` if the node is removed together with them.
  /// - Throws: `ModelError` when the bytes are no record bodies.
  package func losing(_ isGone: (ByteString) -> Bool) throws -> NodeRecords? {
    var left = self
    for (place, record) in records.enumerated() {
      switch try record.losing(isGone) {
      case .unchanged: break
      case .changed(let body): left.records[place].body = body
      case .lost: return nil
      }
    }
    return left
  }

  /// Returns the records whose body differs from the one in others; types that only one has are left out.
  package func changes(from others: NodeRecords) -> NodeRecords {
    var result = self
    result.records.removeAll { record in
      others.record(of: record.typeName).map { $0.body == record.body } ?? true
    }
    return result
  }

  /// The names of the nodes to which they refer.
  package var references: Set<ByteString> {
    get throws { try records.reduce(into: []) { $0.formUnion(try $1.references) } }
  }

  /// Returns these records as they would be without an earlier write.
  ///
  /// Later changes are applied to the records from before the write: field by field, and in lists element by element.
  /// A record stays if its type had none before or none after the write. Objects that may be different cases of an enum
  /// stay as they are: two cases side by side can't be decoded.
  ///
  /// - Parameters:
  ///   - before: The records before the write.
  ///   - after: The records after it.
  ///   - dictionaries: The places that look like enums and are dictionaries: ``place(_:in:)`` of each.
  /// - Returns: The records without it.
  /// - Throws: `ModelError` when the bytes are no record bodies.
  package func undoing(
    from before: NodeRecords, to after: NodeRecords, dictionaries: Set<[UInt8]>
  ) throws -> NodeRecords {
    if self == after { return before }
    var result = self
    for (place, record) in records.enumerated() {
      guard let before = before.record(of: record.typeName),
        let after = after.record(of: record.typeName)
      else { continue }
      result.records[place].body = try RecordBody.rebasing(
        record.body, from: after.body, onto: before.body, lists: .all, isNamed: true
      ) { place, looksSo in
        looksSo && !dictionaries.contains(Self.place(place, in: record.typeName))
      }
    }
    return result
  }

  /// The bytes that name a place in the record of a type.
  package static func place(_ place: RecordBody.Path, in typeName: String) -> [UInt8] {
    Array(typeName.utf8) + [0] + place
  }
}

extension NodeRecords {
  /// Makes the records from untyped ones.
  ///
  /// - Parameter trees: The records of a node, children as references.
  /// - Throws: `ModelError` if they are no records.
  package init(_ trees: [TreeNode]) throws {
    for tree in trees {
      let names = TreeNames()
      var encoder = TreeEncoder(sink: names)
      _ = try encoder.encode(tree)
      try unsafe names.body.withUnsafeBytes { body in
        try unsafe append(tree.typeName, body) { names.names[Int($0.node)] }
      }
    }
  }

  /// The records as untyped ones, children as references.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The records.
  /// - Throws: `ModelError` when the bytes are no record bodies.
  package func trees(_ identifier: String) throws -> [TreeNode] {
    try records.map { record in
      let names = TreeNames()
      let body = try record.body {
        names.reference(identifier: $0.identifier, typeName: $0.typeName)
      }
      var decoder = TreeDecoder()
      // The bytes are read during the call only.
      let fields = try unsafe body.withUnsafeBytes { body in
        try unsafe decoder.value(of: body) { reference in
          let name = names.names[Int(reference.node)]
          return unsafe TreeRecord(identifier: name.identifier, typeName: name.typeName, body: nil)
        }
      }
      return TreeNode(identifier, type: record.typeName, fields: fields)
    }
  }
}

/// Numbers for the names in one record.
private final class TreeNames: TreeSink {
  var names: [NodeRecords.Name] = []
  var body: [UInt8] = []

  func beginNode(identifier: String, typeName: String) -> RecordReference {
    reference(identifier: identifier, typeName: typeName)
  }

  func reference(identifier: String, typeName: String) -> RecordReference {
    names.append((identifier, typeName))
    return RecordReference(node: UInt64(names.count - 1), type: 0)
  }

  func endNode(_ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]) {
    self.body = unsafe Array(body)
  }
}
