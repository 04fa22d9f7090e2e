package import PandoModels
import PandoRecords
package import PandoStore

/// The models that a write was passed for some nodes, if they equal the stored ones.
package struct WrittenNodes {
  /// The maximum number of models visited for each wanted node; beyond it a read costs less.
  private static let visitedMaximum = 1_000

  private let wanted: Set<ByteString>
  /// True if a model contains others, so that a node may occur in the write with several contents.
  private let hasTrees: Bool
  private var models: [ByteString: any SimpleModel] = [:]
  private var visitsLeft: Int
  /// True if a node has several contents, or if the write has too many models.
  private var isUnclear = false

  /// Finds nodes in the models of a write.
  ///
  /// The result is `nil` if the models do not determine the stored nodes. The caller must then read
  /// the nodes from the store.
  ///
  /// - Parameters:
  ///   - identifiers: The wanted nodes.
  ///   - content: The models of the write.
  /// - Complexity: O(*n*) for *n* given models, or 1 000 for each wanted node if that is less.
  package init?(_ identifiers: [ByteString], in content: WrittenContent) {
    self.init(identifiers, in: content, visitedMaximum: identifiers.count * Self.visitedMaximum)
  }

  private init?(_ identifiers: [ByteString], in content: WrittenContent, visitedMaximum: Int) {
    guard content.isPlain, !content.hasDeletes else { return nil }
    wanted = Set(identifiers)
    hasTrees = content.hasTrees
    visitsLeft = visitedMaximum
    for given in content.models {
      given.forEach { visit($0, isOneNode: given.areSingleNodes) }
      if isUnclear { return nil }
    }
  }

  /// Returns true if all models of a write equal the stored ones, with the nodes inside.
  ///
  /// - Complexity: O(*n*) for *n* given models.
  static func areAllStored(in content: WrittenContent) -> Bool {
    guard content.isPlain else { return false }
    if content.hasDeletes || !content.hasTrees { return true }
    return WrittenNodes([], in: content, visitedMaximum: .max) != nil
  }

  /// The model of a wanted node; `nil` if the write has none.
  package subscript(identifier: ByteString) -> (any SimpleModel)? { models[identifier] }

  private mutating func visit(_ root: any SimpleModel, isOneNode: Bool) {
    guard !isOneNode, let model = root as? any Model else {
      _ = note(root, root.modelIdentifier)
      return
    }
    ModelChildren.walk(model, tooDeep: { isUnclear = true }) { note(ModelBoxes.simple($0), $1) }
  }

  /// - Returns: True if the walk continues.
  private mutating func note(_ node: any SimpleModel, _ identifier: String?) -> Bool {
    visitsLeft -= 1
    if visitsLeft < 0 { isUnclear = true }
    guard !isUnclear, let identifier else { return !isUnclear }
    let key = ByteString(identifier)
    if hasTrees || wanted.contains(key) {
      if let other = models.updateValue(node, forKey: key), !other.isEqual(to: node) {
        isUnclear = true
      }
    }
    return !isUnclear
  }
}

extension WrittenContent {
  fileprivate var hasTrees: Bool { !models.allSatisfy(\.areSingleNodes) }
}
