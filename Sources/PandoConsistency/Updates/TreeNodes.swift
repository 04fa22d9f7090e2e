import PandoModels

/// The nodes of a tree: those models in it that have an identifier.
enum TreeNodes {
  typealias Node = (identifier: ByteString, type: any SimpleModel.Type)

  /// Calls a closure with every node, a node before its children; what is nested too deep is left out.
  static func forEach(
    of tree: any Model, level: Int = 0, _ visit: (any Model, String) -> Void
  ) {
    guard level <= RecordLimits.maximumNestingDepth else { return }
    if let identifier = tree.modelIdentifier, !identifier.isEmpty { visit(tree, identifier) }
    tree.forEach { forEach(of: $0, level: level + 1, visit) }
  }

  /// The first node of a tree that has an identifier.
  static func find(
    _ identifier: ByteString, in tree: any Model, level: Int = 0
  ) -> (any Model)? {
    guard level <= RecordLimits.maximumNestingDepth else { return nil }
    if let own = tree.modelIdentifier, own.hasSameBytes(as: identifier.text) { return tree }
    var found: (any Model)?
    tree.forEach { if found == nil { found = find(identifier, in: $0, level: level + 1) } }
    return found
  }

  /// Adds the nodes of a tree to a list.
  static func append(_ tree: any SimpleModel, to nodes: inout [Node]) {
    if let model = ModelTypes.asModel(tree) {
      append(model, to: &nodes)
    } else if let identifier = tree.modelIdentifier, !identifier.isEmpty {
      nodes.append((ByteString(identifier), type(of: tree)))
    }
  }

  static func append(_ tree: any Model, to nodes: inout [Node]) {
    forEach(of: tree) { nodes.append((ByteString($1), type(of: $0))) }
  }

  static func identifiers(of tree: any Model) -> Set<ByteString> {
    var identifiers = Set<ByteString>()
    forEach(of: tree) { identifiers.insert(ByteString($1)) }
    return identifiers
  }

  /// Whether two trees hold the same identifiers by the same types below their roots, in the same
  /// order.
  static func haveSameNodes(_ old: any Model, _ new: any Model) -> Bool {
    let (old, new) = (below(old), below(new))
    return old.count == new.count
      && zip(old, new).allSatisfy { $0.type == $1.type && $0.identifier == $1.identifier }
  }

  /// The nodes below a model.
  static func below(_ model: any Model) -> [Node] {
    var nodes: [Node] = []
    model.forEach { append($0, to: &nodes) }
    return nodes
  }
}
