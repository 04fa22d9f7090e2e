import PandoLMDB
public import PandoModels
import PandoSystem

extension ModelSnapshot {
  /// Calls a closure with identifiers in the order of their bytes.
  ///
  /// - Parameters:
  ///   - typeName: Only nodes that have a record of this type; `nil` for all.
  ///   - prefix: Only identifiers that begin with these bytes.
  ///   - body: Returns false to stop.
  /// - Throws: The error of `body`; ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(*n*) for *n* identifiers with the prefix.
  /// - Note: Identifiers of more than 510 bytes are ordered by their first 495 bytes.
  public func forEachIdentifier(
    ofType typeName: String? = nil, prefix: String = "", _ body: (String) throws -> Bool
  ) throws {
    var type: UInt32?
    if let typeName {
      type = try reader.directory.number(ofTypeNamed: typeName, in: reader)
      guard type != nil else { return }
    }
    let start = Array(prefix.utf8.prefix(IdentifierKey.prefixByteCount))
    try reader.forEachIdentifier(prefix: start) { node, text in
      if let type {
        guard try reader.hasRecord(RecordKey(type: type, node: node)) else { return true }
      }
      let identifier = try ByteFields.text(text, "the identifier of node \(node)")
      guard prefix.utf8.count <= start.count || identifier.utf8.starts(with: prefix.utf8) else {
        return true
      }
      return try body(identifier)
    }
  }

  /// Returns identifiers in the order of their bytes.
  ///
  /// - Parameters:
  ///   - typeName: Only nodes that have a record of this type; `nil` for all.
  ///   - prefix: Only identifiers that begin with these bytes.
  ///   - limit: How many at most.
  /// - Returns: The identifiers.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(*n*) for *n* identifiers with the prefix.
  public func identifiers(
    ofType typeName: String? = nil, prefix: String = "", limit: Int = .max
  ) throws -> [String] {
    var found: [String] = []
    guard limit > 0 else { return found }
    try forEachIdentifier(ofType: typeName, prefix: prefix) { identifier in
      found.append(identifier)
      return found.count < limit
    }
    return found
  }

  /// Calls a closure with every model of a type, in the order the store first saw their nodes.
  ///
  /// - Parameters:
  ///   - type: The type, by whose own records the nodes are found.
  ///   - undecodable: Takes a record that does not decode, which is left out, and returns false to stop.
  ///   - body: Returns false to stop.
  /// - Throws: What the closures throw; `ModelError` when a record does not decode and nobody takes it;
  ///   ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(*n*) for *n* models of the type; models are decoded one at a time.
  public func forEachModel<M: SimpleModel & Decodable>(
    of type: M.Type, undecodable: ((UndecodableRecord) throws -> Bool)? = nil,
    _ body: (M) throws -> Bool
  ) throws {
    let name = try reader.directory.name(of: type)
    guard let number = try reader.directory.number(ofTypeNamed: name, in: reader) else { return }
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    var nodes = try reader.nodes(ofType: number)
    while let node = try nodes.next(reader) {
      let model: M
      do {
        model = try source.model(node, as: type)
      } catch let error as ModelError {
        let identifier = try reader.identifier(of: node)
        let named = error.about(identifier: identifier, typeName: name)
        guard let undecodable else { throw named }
        guard try undecodable(UndecodableRecord(identifier, named)) else { return }
        continue
      }
      guard try body(model) else { return }
    }
  }

  /// Returns how many nodes there are.
  ///
  /// - Parameter typeName: Only nodes that have a record of this type; `nil` for all.
  /// - Returns: The number of nodes.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *t*) for *t* types; the store keeps the counts.
  public func count(ofType typeName: String? = nil) throws -> Int {
    guard let typeName else { return try reader.snapshot.count(of: reader.tables.nodes) }
    if let count = reader.pending?.recordCount(ofTypeNamed: typeName) {
      return Int(clamping: count)
    }
    return try Int(clamping: reader.typeRow(named: typeName)?.recordCount ?? 0)
  }

  /// Returns the type names that have at least one record.
  ///
  /// - Returns: The names, sorted by their bytes.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(*t*) for *t* types.
  public func typeNames() throws -> [String] {
    var names: [String] = []
    try reader.forEachType { name, row in
      let count = reader.pending?.recordCount(ofTypeNamed: name) ?? row.recordCount
      if count > 0 { names.append(name) }
    }
    return names
  }
}

extension ModelSnapshot {
  /// Returns the nodes that hold a node directly.
  ///
  /// - Parameter identifier: The identifier of the child.
  /// - Returns: The identifiers of the parents, each once, in the order the store first saw them;
  ///   empty if nobody holds it. Collections are not listed: see ``collections(holding:)``.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n* + *p*) for *p* parents.
  public func parents(of identifier: String) throws -> [String] {
    guard let node = try reader.node(identifier) else { return [] }
    return try reader.parentNodes(of: node).ordered().map { try reader.identifier(of: $0) }
  }

  /// Returns the nodes that a node holds directly, in whatever of its records.
  ///
  /// - Parameter identifier: The identifier of the parent.
  /// - Returns: The identifiers of the children, each once, in the order of the record; empty if there is
  ///   no such node.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(*c* log *n*) for *c* children.
  public func children(of identifier: String) throws -> [String] {
    guard let node = try reader.node(identifier) else { return [] }
    return try reader.childNodes(of: node).map { try reader.identifier(of: $0) }
  }

  /// Returns all nodes from which a node can be reached.
  ///
  /// - Parameter identifier: The identifier of the descendant.
  /// - Returns: The identifiers of parents, their parents and so on, each once, nearest first.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(*a* log *n*) for *a* ancestors.
  public func ancestors(of identifier: String) throws -> [String] {
    guard let node = try reader.node(identifier) else { return [] }
    return try reader.ancestors(of: node).map { try reader.identifier(of: $0.node) }
  }

  /// Returns the ends of the parent chain: the ancestors that no node holds.
  ///
  /// - Parameter identifier: The identifier of the descendant.
  /// - Returns: The identifiers of the roots; the node itself if no node holds it; empty if there is
  ///   no such node.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(*a* log *n*) for *a* ancestors.
  public func roots(of identifier: String) throws -> [String] {
    guard let node = try reader.node(identifier) else { return [] }
    if try reader.parentNodes(of: node).isEmpty { return [identifier] }
    return try reader.ancestors(of: node).filter(\.isRoot).map {
      try reader.identifier(of: $0.node)
    }
  }

  /// Returns the collections that list a node, or list a value that holds it.
  ///
  /// - Parameter identifier: The identifier of the element.
  /// - Returns: The cache keys, sorted.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(*c* log *n*) for *c* such collections.
  public func collections(holding identifier: String) throws -> [String] {
    guard let node = try reader.node(identifier) else { return [] }
    var numbers: [UInt64] = []
    try reader.forEachParent(of: node) { parent, _ in
      guard parent.isCollection else { return false }  // collections come first: type 0
      numbers.append(parent.node)
      return true
    }
    return try numbers.map { try reader.cacheKey(ofCollection: $0) }.ordered()
  }
}

extension StoreReader {
  /// The nodes with a record that holds a node.
  func parentNodes(of node: UInt64) throws -> Set<UInt64> {
    var parents: Set<UInt64> = []
    try forEachParent(of: node) { parent, _ in
      if !parent.isCollection { parents.insert(parent.node) }
      return true
    }
    return parents
  }

  /// All ancestors of a node, breadth first; those that nobody holds are marked as roots.
  func ancestors(of node: UInt64) throws -> [(node: UInt64, isRoot: Bool)] {
    var seen: Set<UInt64> = [node]
    var found: [(node: UInt64, isRoot: Bool)] = []
    var frontier = try parentNodes(of: node).ordered()
    while !frontier.isEmpty {
      var next: Set<UInt64> = []
      for ancestor in frontier where seen.insert(ancestor).inserted {
        let parents = try parentNodes(of: ancestor)
        found.append((ancestor, parents.isEmpty))
        next.formUnion(parents)
      }
      frontier = next.subtracting(seen).ordered()
    }
    return found
  }
}
