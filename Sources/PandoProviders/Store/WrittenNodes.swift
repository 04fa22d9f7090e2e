package import PandoModels
package import PandoStore

/// The models that a write was given for some nodes, where they are what is stored after it.
package struct WrittenNodes {
  /// So many models are visited for each wanted node; a read costs less than more of them.
  private static let visitedMaximum = 1_000

  private let wanted: Set<ByteString>
  /// Whether a tree may hold a node with older content than a later tree of the write.
  private let hasSeveralTrees: Bool
  private var models: [ByteString: any SimpleModel] = [:]
  private var visitsLeft: Int
  /// Whether a node was given with different content, or too many models were given.
  private var isUnclear = false

  /// Finds nodes in what a write was given.
  ///
  /// - Parameters:
  ///   - identifiers: The wanted nodes.
  ///   - content: What the write was given.
  /// - Returns: `nil` if that does not tell what is stored of the nodes: the caller reads them.
  /// - Complexity: O(*n*) for *n* given models, or 1 000 for each wanted node if that is less.
  package init?(_ identifiers: [ByteString], in content: WrittenContent) {
    self.init(identifiers, in: content, visitedMaximum: identifiers.count * Self.visitedMaximum)
  }

  private init?(_ identifiers: [ByteString], in content: WrittenContent, visitedMaximum: Int) {
    guard content.isPlain, !content.hasDeletes else { return nil }
    wanted = Set(identifiers)
    hasSeveralTrees = content.hasSeveralTrees
    visitsLeft = visitedMaximum
    for given in content.models {
      given.forEach { visit($0, isOneNode: given.areSingleNodes) }
      if isUnclear { return nil }
    }
  }

  /// Whether all models that a write was given are what is stored after it, with the nodes inside.
  ///
  /// - Complexity: O(*n*) for *n* given models.
  static func areAllStored(in content: WrittenContent) -> Bool {
    guard content.isPlain else { return false }
    if content.hasDeletes || !content.hasSeveralTrees { return true }
    return WrittenNodes([], in: content, visitedMaximum: .max) != nil
  }

  /// The model of a wanted node; `nil` if the write was given none.
  package subscript(identifier: ByteString) -> (any SimpleModel)? { models[identifier] }

  private mutating func visit(_ root: any SimpleModel, isOneNode: Bool) {
    guard !isOneNode, let model = root as? any Model else {
      _ = note(root, root.modelIdentifier)
      return
    }
    ModelChildren.walk(model, tooDeep: { isUnclear = true }) { note(ModelBoxes.simple($0), $1) }
  }

  /// - Returns: Whether the walk goes on.
  private mutating func note(_ node: any SimpleModel, _ identifier: String?) -> Bool {
    visitsLeft -= 1
    if visitsLeft < 0 { isUnclear = true }
    guard !isUnclear, let identifier else { return !isUnclear }
    let key = ByteString(identifier)
    if hasSeveralTrees || wanted.contains(key) {
      if let other = models.updateValue(node, forKey: key), !other.isEqual(to: node) {
        isUnclear = true
      }
    }
    return !isUnclear
  }
}

extension WrittenContent {
  fileprivate var hasSeveralTrees: Bool {
    if models.allSatisfy(\.areSingleNodes) { return false }
    var count = 0
    for given in models { given.forEach { _ in count += 1 } }
    return count > 1
  }
}
