import PandoConsistency

/// The effect of an update on a tree, computed in full from the documented rules, without any registry.
enum Reference {
  struct Result {
    var tree: Node?
    /// In any order.
    var changed: Set<String> = []
    var deleted: Set<String> = []

    var isUnchanged: Bool { changed.isEmpty && deleted.isEmpty }
  }

  /// Applies one update to a tree.
  static func apply(_ root: Node, _ new: [String: Node], deleted: Set<String>) -> Result {
    var result = replace(root, new, deleted: deleted)
    result.changed.subtract(result.deleted)
    return result
  }

  static func replace(_ node: Node, _ new: [String: Node], deleted: Set<String>) -> Result {
    if let name = node.name {
      if deleted.contains(name) { return Result(tree: nil, deleted: [name]) }
      if let replacement = new[name] {
        if replacement.isEqual(to: node) { return Result(tree: node) }
        // Changed below: what the update carries in another version.
        let inner = node.children.flatMap(\.all).compactMap { child -> String? in
          guard let name = child.name, let other = new[name], !other.isEqual(to: child) else {
            return nil
          }
          return name
        }
        return Result(tree: replacement, changed: Set(inner).union([name]))
      }
    }
    var result = Result(tree: nil)
    var isGone = false
    var hasChanged = false
    func step(_ child: Node) -> Node? {
      let inner = replace(child, new, deleted: deleted)
      result.changed.formUnion(inner.changed)
      result.deleted.formUnion(inner.deleted)
      if inner.tree !== child { hasChanged = true }
      return inner.tree
    }
    let required = node.required.flatMap { child -> Node? in
      let new = step(child)
      if new == nil { isGone = true }
      return new
    }
    let optional = node.optional.flatMap { step($0) }
    let list = node.list.compactMap { step($0) }
    if isGone {
      result.changed = []
      if let name = node.name { result.deleted.insert(name) }
      return result
    }
    guard hasChanged else { return Result(tree: node) }
    if let name = node.name { result.changed.insert(name) }
    result.tree = Node(node.name, node.value, required: required, optional: optional, list: list)
    return result
  }
}
