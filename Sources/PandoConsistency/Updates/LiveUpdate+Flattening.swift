package import FoundationEssentials
package import PandoModels

extension LiveUpdate {
  /// Flattens trees to identifier → models.
  ///
  /// A tree that is cyclic, nested too deep or has an empty identifier makes the update carry nothing;
  /// ``refusal`` says why.
  ///
  /// - Parameters:
  ///   - models: The top models, in order.
  ///   - context: Travels to everyone who is told.
  ///   - date: When the change was made.
  ///   - keepsNodes: Whether somebody will register the tree.
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

  /// An update that deletes nodes.
  ///
  /// - Parameters:
  ///   - identifiers: What is deleted.
  ///   - context: Travels to everyone who is told.
  package init(deleting identifiers: [String], context: (any Sendable)? = nil) {
    self.init()
    self.context = context
    deleted = Set(identifiers.map { ByteString($0) })
  }

  /// Adds a tree, after those that are there.
  package mutating func add(_ root: any SimpleModel) {
    treeCount += 1
    var path: [ByteString] = []
    let model = ModelTypes.asModel(root)
    if model != nil { path.reserveCapacity(Self.expectedDepth) }
    visit(root, model, TreeLevel(), &path)
    if refusal != nil { versions.removeAll() }
  }

  /// How deep most trees are at the most.
  private static let expectedDepth = 4

  /// Adds what a store holds of an identifier after the commit.
  package mutating func addStored(_ model: any SimpleModel, _ identifier: String) {
    let key = ByteString(identifier)
    if let position = versions.position(of: key) {
      versions[position: position].stored.append(model)
    } else {
      var stored = Versions()
      stored.stored = [model]
      versions.append(key, stored)
    }
  }

  /// Adds what another update gives for an identifier, in place of what was given before.
  package mutating func give(_ given: [any SimpleModel], _ key: ByteString) {
    guard let position = versions.position(of: key) else {
      return versions.append(key, Versions(given: given, tree: 0))
    }
    versions[position: position].given = given
  }

  /// Adds a node, and what is below it if it can hold others.
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
        reason: "an identifier can't be empty, so the tree is refused")
      : ConsistencyError(
        .cyclicModel, identifier: identifier.text, type: type(of: node),
        reason: "occurs inside its own subtree, so the tree is refused")
  }

  private mutating func give(_ model: any SimpleModel, _ key: ByteString) {
    guard let position = versions.position(of: key) else {
      versions.append(key, Versions(given: [model], tree: treeCount))
      return
    }
    let known = versions[position: position]
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
    versions[position: position] = Versions(given: given, stored: known.stored, tree: treeCount)
  }
}
