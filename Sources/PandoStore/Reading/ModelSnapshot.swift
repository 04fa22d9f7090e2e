import PandoLMDB
public import PandoModels

/// One committed version of a store, or the present state of a write transaction.
///
/// A snapshot lives as long as the closure it was given to; the compiler refuses to keep it. It is
/// never blocked by a writer and does not change while other threads commit. One thread at a time.
public struct ModelSnapshot: ~Escapable {
  let reader: StoreReader
  let path: String

  @_lifetime(copy reader)
  init(_ reader: StoreReader, path: String) {
    self.reader = reader
    self.path = path
  }

  /// The number of the last commit that this snapshot shows; 0 in a new store.
  ///
  /// In a write transaction it is the number of the last commit before it.
  public var commitNumber: UInt64 {
    get throws { try reader.state(path: path)?.commitNumber ?? 0 }
  }

  /// Returns whether a node is stored.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: Whether any record of the node exists.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func contains(_ identifier: String) throws -> Bool {
    try reader.node(identifier) != nil
  }

  /// Returns a model with all it contains.
  ///
  /// A type that has no record of its own is read from the node's newest record of another type.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - type: The type to read it as.
  /// - Returns: The model, or `nil` if no node has the identifier.
  /// - Throws: `ModelError` that names identifier, type and field when a record lacks what the type
  ///   requires; ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*) for each node of the tree.
  public func model<M: SimpleModel & Decodable>(
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

  /// Returns the type names under which a node has records.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The names, sorted; empty if there is no such node.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  public func typeNames(of identifier: String) throws -> [String] {
    guard let node = try reader.node(identifier) else { return [] }
    let row = try reader.requiredSummary(of: node)
    return try row.types.map { try reader.directory.name(ofTypeNumber: $0, in: reader) }.sorted()
  }

  /// Returns a small value that was stored beside the models.
  ///
  /// - Parameter name: The name given to ``ModelTransaction/setProperty(_:to:)``.
  /// - Returns: The bytes, or `nil` if there is no such property.
  /// - Throws: ``StoreError`` when the name is empty or longer than 400 bytes.
  public func property(_ name: String) throws -> [UInt8]? {
    let key = try PropertyKey(name)
    guard let bytes = try reader.snapshot.bytes(forKey: key.bytes.span, in: reader.tables.meta)
    else { return nil }
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
