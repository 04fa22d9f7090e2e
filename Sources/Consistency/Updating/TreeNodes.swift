import ModelCore

/// The nodes of a tree: those models in it that have an identifier.
enum TreeNodes {
  /// Calls a closure with every node, a node before its children; what is nested too deep is left out.
  static func forEach(
    of tree: any SimpleModel, level: Int = 0, _ visit: (any SimpleModel, String) -> Void
  ) {
    guard level <= RecordLimits.maximumNestingDepth else { return }
    if let identifier = tree.modelIdentifier, !identifier.isEmpty { visit(tree, identifier) }
    if let model = tree as? any Model {
      model.forEach { forEach(of: $0, level: level + 1, visit) }
    }
  }

  static func list(_ tree: any SimpleModel) -> [LiveRegistry.Node] {
    var nodes: [LiveRegistry.Node] = []
    forEach(of: tree) { nodes.append((ByteString($1), type(of: $0))) }
    return nodes
  }

  static func identifiers(of tree: any SimpleModel) -> Set<ByteString> {
    var identifiers = Set<ByteString>()
    forEach(of: tree) { identifiers.insert(ByteString($1)) }
    return identifiers
  }

  /// Whether two trees hold the same identifiers by the same types, in the same order.
  static func haveSameNodes(_ old: any Model, _ new: any Model) -> Bool {
    let (old, new) = (list(old), list(new))
    return old.count == new.count
      && zip(old, new).allSatisfy { $0.type == $1.type && $0.identifier == $1.identifier }
  }
}
