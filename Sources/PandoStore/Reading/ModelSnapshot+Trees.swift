public import PandoModels
import PandoLMDB

extension ModelSnapshot {
  /// Returns a node with all it contains, untyped.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - typeName: The type whose record to read; `nil`, or a type that has no record of its own, for
  ///     the newest.
  ///   - depth: How many levels of children to read; below that they are references. 0 reads the
  ///     node alone.
  /// - Returns: The tree, or `nil` if no node has the identifier.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged; `ModelError` `nestingTooDeep`.
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

  /// A listed node: with its tree, or as a reference when no depth is left.
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
