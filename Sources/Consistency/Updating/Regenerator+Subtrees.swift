import ModelCore

/// What a replacement does to the identifiers below the node that is replaced.
extension Regenerator {
  /// Finds out whether two subtrees hold the same nodes, and which nodes of the old one changed.
  mutating func compareSubtrees(
    _ old: any Model, _ new: any Model, _ carried: Carried, _ level: Int
  ) {
    if hasSameNodes {
      // What was changed so far is the path to this place. If the tree has no other nodes, the old
      // subtree has none, and nor has the new one if it is a leaf.
      let hasNoneBelow = carried.isLeaf && replacedCount == 1 && changed.count == registeredCount
      hasSameNodes = hasNoneBelow || TreeNodes.haveSameNodes(old, new)
    }
    guard carriesSeveral else { return }
    var newNodes: Set<ByteString>?
    old.forEach { _ = collectChanged($0, new, &newNodes, level + 1) }
  }

  /// Adds the changed nodes of an old subtree.
  ///
  /// Changed is what the update carries in another version, and what stays in the tree around it. What
  /// has merely gone is not.
  ///
  /// - Returns: Whether anything in the subtree changed.
  private mutating func collectChanged(
    _ node: any Model, _ new: any Model, _ newNodes: inout Set<ByteString>?, _ level: Int
  ) -> Bool {
    guard level <= RecordLimits.maximumNestingDepth else { return false }
    let start = changed.count
    var isChanged = false
    var isCarried = false
    let identifier = node.modelIdentifier
    if let identifier {
      let key = ByteString(identifier)
      if update.deleted.contains(key) { hasDeleted = true }
      if let carried = carried(key) {
        guard differs(node, carried) else { return false }
        isCarried = true
        isChanged = true
        changed.append(identifier)
      }
    }
    node.forEach {
      if collectChanged($0, new, &newNodes, level + 1) { isChanged = true }
    }
    if let identifier, isChanged, !isCarried {
      let nodes = newNodes ?? TreeNodes.identifiers(of: new)
      newNodes = nodes
      if nodes.contains(ByteString(identifier)) { changed.insert(identifier, at: start) }
    }
    return isChanged
  }

  /// Describes what happened to the tree at work.
  mutating func makeUpdates(_ root: any Model) -> ModelUpdates {
    var deleted: [String] = []
    if hasDeleted {
      var named = Set<ByteString>()
      TreeNodes.forEach(of: root) { node, identifier in
        let key = ByteString(identifier)
        guard update.deleted.contains(key) || gone.contains(key) else { return }
        if named.insert(key).inserted { deleted.append(identifier) }
      }
      changed.removeAll { named.contains(ByteString($0)) }
      gone.removeAll()
    }
    return ModelUpdates(
      changedModelIdentifiers: Self.withoutRepetitions(changed), deletedModelIdentifiers: deleted)
  }

  private static func withoutRepetitions(_ identifiers: [String]) -> [String] {
    if identifiers.count == 1 { return identifiers }
    if identifiers.count == 2, !identifiers[0].hasSameBytes(as: identifiers[1]) {
      return identifiers
    }
    var named = Set<ByteString>()
    return identifiers.filter { named.insert(ByteString($0)).inserted }
  }
}
