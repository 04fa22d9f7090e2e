import PandoModels
import PandoRecords

/// The effect of a replacement on the identifiers below the replaced node.
extension Regenerator {
  /// Compares the nodes of two subtrees, and adds the changed nodes of the old one.
  mutating func compareSubtrees(
    _ old: any Model, _ new: any Model, _ carried: Carried, _ level: TreeLevel
  ) {
    if hasSameNodes {
      // `changed` has only the path to this node so far. If the tree has no other nodes, the old
      // subtree is empty. The new one is empty too if it is a leaf.
      let hasNoneBelow = carried.isLeaf && replacedCount == 1 && changed.count == registeredCount
      hasSameNodes = hasNoneBelow || TreeNodes.haveSameNodes(old, new)
    }
    guard carriesSeveral else { return }
    var newNodes: Set<ByteString>?
    let inner = level.below(isNode: true)
    old.forEach { _ = collectChanged($0, new, &newNodes, inner) }
  }

  /// Adds the changed nodes of an old subtree.
  ///
  /// A node is changed if the update has another version of it, or if it stays and contains a
  /// change. A node that is merely missing in the new tree is not changed.
  ///
  /// - Returns: True if a node of the subtree changed.
  private mutating func collectChanged(
    _ node: any Model, _ new: any Model, _ newNodes: inout Set<ByteString>?,
    _ level: TreeLevel
  ) -> Bool {
    let start = changed.count
    var isChanged = false
    var isCarried = false
    let identifier = node.modelIdentifier
    guard !level.isTooDeep(isNode: identifier != nil) else { return false }
    if let identifier {
      let key = ByteString(identifier)
      if self.deleted.contains(key) { hasDeleted = true }
      if let carried = carried(key) {
        guard differs(node, carried) else { return false }
        isCarried = true
        isChanged = true
        changed.append(identifier)
      }
    }
    let inner = level.below(isNode: identifier != nil)
    inner.onStack {
      node.forEach { if collectChanged($0, new, &newNodes, inner) { isChanged = true } }
    }
    if let identifier, isChanged, !isCarried {
      let nodes = newNodes ?? TreeNodes.identifiers(of: new)
      newNodes = nodes
      if nodes.contains(ByteString(identifier)) { changed.insert(identifier, at: start) }
    }
    return isChanged
  }

  /// Makes the description of the current tree's changes.
  mutating func makeUpdates(_ root: any Model) -> ModelUpdates {
    var deleted: [String] = []
    if hasDeleted {
      isListing = true
      var named = Set<ByteString>()
      list(root, isBelowGone: false, TreeLevel(), &named, &deleted)
      changed.removeAll { named.contains(ByteString($0)) }
      gone.removeAll()
      visited.removeAll()
      isListing = false
    }
    return ModelUpdates(
      changedModelIdentifiers: Self.withoutRepetitions(changed), deletedModelIdentifiers: deleted)
  }

  /// Lists the deleted nodes of the old tree and the nodes removed with them, each once.
  private mutating func list(
    _ node: any Model, isBelowGone: Bool, _ level: TreeLevel, _ named: inout Set<ByteString>,
    _ deleted: inout [String]
  ) {
    let identifier = node.modelIdentifier
    guard !level.isTooDeep(isNode: identifier != nil) else { return }
    var isGone = isBelowGone
    if let identifier {
      let key = ByteString(identifier)
      // `map` may stop at a missing required child. The nodes below the other children are removed
      // too.
      if isBelowGone, !visited.contains(key), !self.deleted.contains(key) {
        let start = changed.count
        _ = visit(node, level)
        changed.removeSubrange(start...)
      }
      if self.deleted.contains(key) || gone.contains(key) {
        isGone = true
        if named.insert(key).inserted { deleted.append(identifier) }
      }
    }
    let inner = level.below(isNode: identifier != nil)
    inner.onStack {
      node.forEach { list($0, isBelowGone: isGone, inner, &named, &deleted) }
    }
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
