package import PandoModels
import PandoRecords

/// A tree that is to be registered, with its nodes.
package struct NewTree {
  package let root: any SimpleModel
  /// The nodes of a plain tree, parents first.
  private(set) var nodes: [TreeNodes.Node] = []
  /// The models of the nodes.
  private var models: [any Model] = []
  /// True if the tree can have children, has few nodes, and contains each of them once.
  private(set) var isPlain = false
  /// True if all live trees have the contents of its nodes.
  var agrees = false

  package init(_ root: any SimpleModel) {
    self.root = root
    guard let model = ModelTypes.asModel(root) else { return }
    var isPlain = true
    nodes.reserveCapacity(Self.comparedCountMaximum)
    models.reserveCapacity(Self.comparedCountMaximum)
    ModelChildren.walk(model, tooDeep: { isPlain = false }) { model, identifier in
      guard let identifier else { return isPlain }
      isPlain = isPlain && add(model, ByteString(identifier))
      return isPlain
    }
    self.isPlain = isPlain && areDistinct
  }

  /// The maximum count of identifiers that are compared with each other.
  private static let comparedCountMaximum = 4

  private var areDistinct: Bool {
    if nodes.count > Self.comparedCountMaximum {
      return Set(nodes.map(\.identifier)).count == nodes.count
    }
    return nodes.indices.allSatisfy { index in
      !nodes[..<index].contains { $0.identifier == nodes[index].identifier }
    }
  }

  private mutating func add(_ model: any Model, _ identifier: ByteString) -> Bool {
    guard !identifier.text.isEmpty, nodes.count < LiveRegistry.askedNodeCountMaximum
    else { return false }
    nodes.append((identifier, type(of: model)))
    models.append(model)
    return true
  }

  /// Returns true if a registered row has the same content of a node.
  ///
  /// Called outside the registry's lock, because the comparison runs the models' own code.
  func isEqual(to candidate: LiveRegistry.Candidate) -> Bool {
    candidate.spokesman.node?.isEqual(to: models[candidate.index]) ?? false
  }
}
