import PandoModels

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
    return try reader.parentNodes(of: node).sorted().map { try reader.identifier(of: $0) }
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
  public func collections(holding identifier: String) throws -> [String] {
    guard let node = try reader.node(identifier) else { return [] }
    var numbers: [UInt64] = []
    try reader.forEachParent(of: node) { parent, _ in
      guard parent.isCollection else { return false }  // collections come first: type 0
      numbers.append(parent.node)
      return true
    }
    return try numbers.map { try reader.cacheKey(ofCollection: $0) }.sorted()
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
    var frontier = try parentNodes(of: node).sorted()
    while !frontier.isEmpty {
      var next: Set<UInt64> = []
      for ancestor in frontier where seen.insert(ancestor).inserted {
        let parents = try parentNodes(of: ancestor)
        found.append((ancestor, parents.isEmpty))
        next.formUnion(parents)
      }
      frontier = next.subtracting(seen).sorted()
    }
    return found
  }
}
