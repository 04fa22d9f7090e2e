import PandoLMDB
public import PandoModels
import PandoSystem

extension ModelSnapshot {
  /// Calls a closure with identifiers, sorted by their bytes.
  ///
  /// - Parameters:
  ///   - typeName: Only nodes with a record of this type; `nil` for all.
  ///   - prefix: Only identifiers that begin with these bytes.
  ///   - body: Receives an identifier; returns `false` to stop.
  /// - Throws: The error of `body`; ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(*n*) for *n* identifiers with the prefix.
  /// - Note: Identifiers of more than 510 bytes are sorted by their first 495 bytes.
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
      let identifier = try text.text("the identifier of node \(node)")
      guard prefix.utf8.count <= start.count || identifier.utf8.starts(with: prefix.utf8) else {
        return true
      }
      return try body(identifier)
    }
  }

  /// Returns identifiers, sorted by their bytes.
  ///
  /// - Parameters:
  ///   - typeName: Only nodes with a record of this type; `nil` for all.
  ///   - prefix: Only identifiers that begin with these bytes.
  ///   - limit: The most identifiers.
  /// - Returns: The identifiers.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
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

  /// Calls a closure with every model of a type, in the order in which nodes were first stored.
  ///
  /// - Parameters:
  ///   - type: The type; only nodes with a record of it are found.
  ///   - undecodable: Receives an undecodable record, which is omitted; returns `false` to stop.
  ///   - body: Receives a model; returns `false` to stop.
  /// - Throws: The error of a closure; `ModelError` for an undecodable record without
  ///   `undecodable`; ``StoreError`` if the bytes on disk are damaged.
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

  /// Returns the number of nodes.
  ///
  /// - Parameter typeName: Only nodes with a record of this type; `nil` for all.
  /// - Returns: The number of nodes.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
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
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
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
  /// Returns the direct parents of a node.
  ///
  /// - Parameter identifier: The identifier of the child.
  /// - Returns: The identifiers of the parents, in the order in which they were first stored; empty
  ///   if there are none. Collections are not included: see ``collections(holding:)``.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n* + *p*) for *p* parents.
  public func parents(of identifier: String) throws -> [String] {
    guard let node = try reader.node(identifier) else { return [] }
    return try reader.parentNodes(of: node).ordered().map { try reader.identifier(of: $0) }
  }

  /// Returns the direct children of a node, in any of its records.
  ///
  /// - Parameter identifier: The identifier of the parent.
  /// - Returns: The identifiers of the children, without duplicates, in record order; empty if
  ///   there is no such node.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(*c* log *n*) for *c* children.
  public func children(of identifier: String) throws -> [String] {
    guard let node = try reader.node(identifier) else { return [] }
    return try reader.childNodes(of: node).map { try reader.identifier(of: $0) }
  }

  /// Returns all ancestors of a node.
  ///
  /// - Parameter identifier: The identifier of the descendant.
  /// - Returns: The identifiers of the ancestors, without duplicates, nearest first.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(*a* log *n*) for *a* ancestors.
  public func ancestors(of identifier: String) throws -> [String] {
    guard let node = try reader.node(identifier) else { return [] }
    return try reader.ancestors(of: node).map { try reader.identifier(of: $0.node) }
  }

  /// Returns the ancestors that have no parent.
  ///
  /// - Parameter identifier: The identifier of the descendant.
  /// - Returns: The identifiers of the roots; the node itself if it has no parent; empty if there
  ///   is no such node.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(*a* log *n*) for *a* ancestors.
  public func roots(of identifier: String) throws -> [String] {
    guard let node = try reader.node(identifier) else { return [] }
    if try reader.parentNodes(of: node).isEmpty { return [identifier] }
    return try reader.ancestors(of: node).filter(\.isRoot).map {
      try reader.identifier(of: $0.node)
    }
  }

  /// Returns the collections that list a node, or a value that contains it.
  ///
  /// - Parameter identifier: The identifier of the element.
  /// - Returns: The cache keys, sorted.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
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
  /// The nodes with a record that contains a node.
  func parentNodes(of node: UInt64) throws -> Set<UInt64> {
    var parents: Set<UInt64> = []
    try forEachParent(of: node) { parent, _ in
      if !parent.isCollection { parents.insert(parent.node) }
      return true
    }
    return parents
  }

  /// All ancestors of a node, breadth first; those without a parent are marked as roots.
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
