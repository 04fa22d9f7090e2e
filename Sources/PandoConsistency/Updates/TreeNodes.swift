import PandoModels
import PandoRecords

/// The nodes of a tree: its models with an identifier.
enum TreeNodes {
  typealias Node = (identifier: ByteString, type: any SimpleModel.Type)

  /// Calls a closure with each node, parents first; levels that are nested too deep are left out.
  static func forEach(of tree: any Model, _ visit: (any Model, String) -> Void) {
    ModelChildren.walk(tree) { model, identifier in
      if let identifier, !identifier.isEmpty { visit(model, identifier) }
      return true
    }
  }

  /// Returns the first node of a tree with an identifier.
  static func find(_ identifier: ByteString, in tree: any Model) -> (any Model)? {
    var found: (any Model)?
    ModelChildren.walk(tree) { model, own in
      if found == nil, let own, own.hasSameBytes(as: identifier.text) { found = model }
      return found == nil
    }
    return found
  }

  /// Adds the nodes of a tree to an array.
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

  /// Returns true if two trees have the same nodes below their roots, in the same order.
  ///
  /// Nodes are the same if identifiers and types are equal.
  static func haveSameNodes(_ old: any Model, _ new: any Model) -> Bool {
    let (old, new) = (below(old), below(new))
    return old.count == new.count
      && zip(old, new).allSatisfy { $0.type == $1.type && $0.identifier == $1.identifier }
  }

  static func below(_ model: any Model) -> [Node] {
    var nodes: [Node] = []
    model.forEach { append($0, to: &nodes) }
    return nodes
  }
}
