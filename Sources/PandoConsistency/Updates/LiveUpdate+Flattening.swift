package import FoundationEssentials
package import PandoModels
import PandoRecords

extension LiveUpdate {
  /// Creates an update that sets trees.
  ///
  /// If a tree is cyclic, nested too deep or has an empty identifier, the update contains no model,
  /// and ``refusal`` has the error.
  ///
  /// - Parameters:
  ///   - models: The roots of the trees, in order.
  ///   - context: Passed to the listeners of the change.
  ///   - date: The time of the change.
  ///   - keepsNodes: True if a holder will register the tree.
  package init(
    setting models: [any SimpleModel], context: (any Sendable)? = nil, date: Date = Date(),
    keepsNodes: Bool = false
  ) {
    self.init(date: date)
    if keepsNodes { givenNodes = [] }
    self.context = context
    self.models = models
    for model in models { add(model) }
    resolveConflicts()
  }

  /// Creates an update that deletes nodes.
  ///
  /// - Parameters:
  ///   - identifiers: The identifiers of the nodes.
  ///   - context: Passed to the listeners of the change.
  package init(deleting identifiers: [String], context: (any Sendable)? = nil) {
    self.init()
    self.context = context
    deleted = Set(identifiers.map { ByteString($0) })
  }

  /// Adds a tree after the existing ones.
  package mutating func add(_ root: any SimpleModel) {
    treeCount += 1
    var path: [ByteString] = []
    let model = ModelTypes.asModel(root)
    if model != nil { path.reserveCapacity(Self.expectedDepth) }
    visit(root, model, TreeLevel(), &path)
    if refusal != nil { versions.removeAll() }
  }

  /// The usual maximum depth of trees.
  private static let expectedDepth = 4

  /// Adds the stored model of an identifier after the commit.
  package mutating func addStored(_ model: any SimpleModel, _ identifier: String) {
    versions[adding: ByteString(identifier)].stored.append(model)
  }

  /// Sets the given models of an identifier; earlier given models are replaced.
  package mutating func give(_ given: [any SimpleModel], _ key: ByteString) {
    versions[adding: key].given = given
  }

  /// Adds a node, and the nodes of its tree if it can have children.
  private mutating func visit(
    _ node: any SimpleModel, _ model: (any Model)?, _ level: TreeLevel, _ path: inout [ByteString]
  ) {
    guard refusal == nil else { return }
    let identifier = node.modelIdentifier.map { ByteString($0) }
    guard !level.isTooDeep(isNode: identifier != nil) else {
      refusal = ConsistencyError(
        .nestingTooDeep, identifier: path.first?.text, type: type(of: node),
        reason: "nested deeper than \(RecordLimits.maximumNodeDepth) levels of nodes, "
          + "or \(RecordLimits.maximumNestingDepth) in one, so the tree is refused")
      return
    }
    if let identifier {
      guard !identifier.text.isEmpty, !path.contains(identifier) else {
        refuse(node, identifier)
        return
      }
      givenNodes?.append((identifier, type(of: node)))
      give(node, identifier)
    }
    guard let model else { return }
    if let identifier { path.append(identifier) }
    let inner = level.below(isNode: identifier != nil)
    nodeDepth = max(nodeDepth, inner.nodeCount)
    inner.onStack { model.forEach { visit(ModelBoxes.simple($0), $0, inner, &path) } }
    if identifier != nil { path.removeLast() }
  }

  private mutating func refuse(_ node: any SimpleModel, _ identifier: ByteString) {
    refusal =
      identifier.text.isEmpty
      ? ConsistencyError(
        .emptyIdentifier, identifier: "", type: type(of: node),
        reason: "an identifier must not be empty, so the tree is refused")
      : ConsistencyError(
        .cyclicModel, identifier: identifier.text, type: type(of: node),
        reason: "occurs inside its own subtree, so the tree is refused")
  }

  private mutating func give(_ model: any SimpleModel, _ key: ByteString) {
    guard let known = versions[key] else {
      versions[adding: key] = Versions(given: [model], tree: treeCount)
      return
    }
    var given = known.given
    if let index = given.firstIndex(where: { type(of: $0) == type(of: model) }) {
      let differs = !given[index].isEqual(to: model)
      if differs { hasSeveralVersions = true }
      if differs, known.tree == treeCount { conflicts.append(key.text) }
      given.remove(at: index)
    } else if !given.isEmpty {
      hasSeveralVersions = true
    }
    given.append(model)
    versions[adding: key].given = given
    versions[adding: key].tree = treeCount
  }
}
