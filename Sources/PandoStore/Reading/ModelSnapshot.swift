import PandoLMDB
public import PandoModels
package import PandoRecords
import PandoSystem

/// One committed version of a store, or the present state of a write transaction.
///
/// ```swift
/// let (person, count) = try store.read { snapshot in
///   (try snapshot.get("Person:7", as: Person.self), try snapshot.count(ofType: "Message"))
/// }
/// ```
///
/// A snapshot lives as long as its closure; the compiler refuses to keep it. No writer blocks it,
/// and it does not change while other threads commit. One thread at a time.
public struct ModelSnapshot: ~Escapable {
  let reader: StoreReader
  let path: String

  @_lifetime(copy reader)
  init(_ reader: consuming StoreReader, path: String) {
    self.reader = reader
    self.path = path
  }

  /// The number of the last commit in this snapshot; 0 in a new store.
  ///
  /// In a write transaction it is the number of the last commit before it.
  public var commitNumber: CommitNumber {
    get throws { try reader.number(commitValue) }
  }

  /// The same without the history.
  package var commitValue: UInt64 {
    get throws { try reader.state(path: path)?.commitNumber ?? 0 }
  }

  /// The version of the file: grows with each flush, including those that change no node.
  package var version: UInt64 { reader.snapshot.transactionID }

  /// Returns whether a node exists.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: Whether any record of the node exists.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func contains(_ identifier: String) throws -> Bool {
    try reader.node(identifier) != nil
  }

  /// Returns a model with its whole tree.
  ///
  /// If the node has no record of the type, it is read from its newest record of another type.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - type: The type to read it as.
  /// - Returns: The model, or `nil` if no node has the identifier.
  /// - Throws: `ModelError` with identifier, type and field if a record lacks a required field;
  ///   ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*) for each node of the tree.
  public func get<M: SimpleModel & Decodable>(
    _ identifier: String, as type: M.Type = M.self
  ) throws -> M? {
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    guard let node = try source.node(identifier) else { return nil }
    do {
      return try source.model(node, as: type)
    } catch let error as ModelError {
      throw error.about(identifier: identifier, typeName: try reader.directory.name(of: type))
    }
  }

  /// Returns the type names of a node's records.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The names, sorted; empty if there is no such node.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*), and O(*t*) for *t* types for each name that is new to this process.
  public func typeNames(of identifier: String) throws -> [String] {
    guard let node = try reader.node(identifier) else { return [] }
    let row = try reader.requiredSummary(of: node)
    return try row.types.map { try reader.directory.name(ofTypeNumber: $0, in: reader) }.ordered()
  }

  /// Returns the deletion rules of a type.
  ///
  /// - Parameter typeName: The type.
  /// - Returns: The rules; empty if there are none.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n* + *r*) for *r* rules.
  public func deletionRules(ofType typeName: String) throws -> [DeletionRule] {
    try reader.deletionRules(ofTypeNamed: typeName)?.rules ?? []
  }

  /// Returns a small value that is stored beside the models.
  ///
  /// - Parameter name: The name passed to ``ModelTransaction/setProperty(_:to:)``.
  /// - Returns: The bytes, or `nil` if there is no such property.
  /// - Throws: ``StoreError`` if the name is empty or longer than 400 bytes.
  /// - Complexity: O(log *n*), and a copy of the bytes.
  public func property(_ name: String) throws -> [UInt8]? { try reader.property(name) }
}

extension StoreReader {
  /// The bytes of a property; `nil` if there is none.
  func property(_ name: String) throws -> [UInt8]? {
    let key = try PropertyKey(name)
    guard let bytes = try snapshot.bytes(forKey: key.bytes.span, in: tables.meta) else {
      return nil
    }
    return Array(copying: bytes)
  }
}

extension SnapshotSource {
  /// Decodes a node from its record.
  func model<M: SimpleModel & Decodable>(_ node: UInt64, as type: M.Type) throws -> M {
    let body = try unsafe body(of: RecordReference(node: node, type: 0), as: type)
    return try unsafe decode(type, from: body)
  }
}

extension ModelSnapshot {
  /// Calls a closure with the properties whose names have a prefix, sorted by the bytes of the
  /// names.
  ///
  /// - Parameters:
  ///   - prefix: The prefix of the names.
  ///   - first: The first name, which has the prefix.
  ///   - body: Receives a name and its bytes; returns `false` to stop.
  /// - Throws: The error of `body`; ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n* + *m*) for *m* such properties.
  package func forEachProperty(
    withPrefix prefix: String, from first: String? = nil,
    _ body: (String, [UInt8]) throws -> Bool
  ) throws {
    let start = PropertyKey.prefix + Array(prefix.utf8)
    let from = first.map { PropertyKey.prefix + Array($0.utf8) } ?? start
    let skipped = PropertyKey.prefix.count
    try reader.snapshot.scan(reader.tables.meta, from: from, upTo: keyAfterPrefix(start)) {
      key, value in
      let name = try key.extracting(skipped..<key.count).text("a property's name")
      return try body(name, Array(copying: value))
    }
  }
}

extension ModelSnapshot {
  /// Returns all records of a node.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The records; empty if there is no such node.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  package func records(of identifier: String) throws -> NodeRecords {
    try reader.namedRecords(of: identifier)
  }

  /// Returns a node with its whole tree, untyped.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - typeName: The type of the record to read; for `nil`, or a type without a record, the
  ///     newest.
  ///   - depth: How many levels of children to read; deeper ones are references. 0 reads the node
  ///     alone.
  /// - Returns: The tree, or `nil` if no node has the identifier.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged; `ModelError` `nestingTooDeep`.
  /// - Complexity: O(log *n*) for each node of the tree.
  public func tree(
    _ identifier: String, as typeName: String? = nil, depth: Int = .max
  ) throws -> TreeNode? {
    guard let node = try reader.node(identifier) else { return nil }
    let type = try typeName.flatMap {
      try reader.directory.number(ofTypeNamed: $0, in: reader)
    }
    guard let key = try reader.recordKey(node: node, preferring: type) else {
      throw StoreError.damaged(identifier, "it has no record")
    }
    return try reader.treeNode(key, depth: depth)
  }
}

extension StoreReader {
  /// The record of a node as an untyped tree.
  func treeNode(_ key: RecordKey, depth: Int) throws -> TreeNode {
    guard
      case .node(let tree) = try decodeTree({ decoder, resolve in
        try decoder.node(key.reference, depth: depth, resolve: resolve)
      })
    else { throw damagedRecord(key, "a record refers to it but it is missing") }
    return tree
  }

  /// A listed node: its tree, or a reference if no depth is left.
  func treeValue(_ reference: RecordReference, depth: Int) throws -> TreeValue {
    guard depth > 0 else {
      return .reference(
        identifier: try identifier(of: reference.node),
        typeName: try directory.name(ofTypeNumber: reference.type, in: self))
    }
    guard let key = try recordKey(node: reference.node, preferring: reference.type) else {
      throw StoreError.damaged("node \(reference.node)", "rows refer to it but it has no record")
    }
    return .node(try treeNode(key, depth: depth == .max ? .max : depth - 1))
  }

  /// A value without identifier as an untyped tree.
  func treeValue(_ body: Span<UInt8>, depth: Int) throws -> TreeValue {
    try decodeTree { decoder, resolve in
      try unsafe body.withUnsafeBytes { body in
        try unsafe decoder.value(of: body, depth: depth, resolve: resolve)
      }
    }
  }

  private func decodeTree(
    _ decode: (inout TreeDecoder, TreeDecoder.Resolver) throws -> TreeValue
  ) throws -> TreeValue {
    var source = SnapshotSource.begin(self)
    defer { SnapshotSource.end(&source) }
    var decoder = TreeDecoder()
    return try decode(&decoder) { try source.treeRecord($0) }
  }
}
