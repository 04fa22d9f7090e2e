import PandoModels
import PandoSystem

/// One time that the children of a model are asked for.
struct ChildPass {
  /// How many were asked for.
  var count = 0
  /// Whether one of them is another one now, or has gone.
  var hasChanged = false
}

/// Children that a model's `forEach` names and its `map` leaves out.
///
/// The registry knows them, so updates find the tree, but without more it would keep them as they were.
/// They are replaced through the model's coding.
extension Regenerator {
  /// What was known before the children of a model were asked for.
  struct Start {
    private let changedCount: Int
    private let replacementCount: Int
    private let replacedCount: Int

    init(_ regenerator: borrowing Regenerator) {
      changedCount = regenerator.changed.count
      replacementCount = regenerator.replacements.count
      replacedCount = regenerator.replacedCount
    }

    /// Forgets what was found since.
    func goBack(_ regenerator: inout Regenerator) {
      regenerator.changed.removeSubrange(changedCount...)
      regenerator.replacements.removeSubrange(replacementCount...)
      regenerator.replacedCount = replacedCount
    }
  }

  /// Whether a model has children that its `map` has not asked for.
  func leavesChildrenOut(_ node: any Model, _ pass: ChildPass) -> Bool {
    var count = 0
    node.forEach { _ in count += 1 }
    return count > pass.count
  }

  /// Replaces the children of a model, with those that its `map` leaves out if its coding meets them.
  ///
  /// - Returns: What `map` returns.
  mutating func mapAll(_ node: any Model, _ level: TreeLevel) -> (
    model: (any Model)?, pass: ChildPass
  ) {
    let asked = children { node.mapAny($0) }
    var leftOut: [any Model] = []
    node.forEach { if !Self.contains(asked, $0) { leftOut.append($0) } }
    var pass = ChildPass()
    if leftOut.isEmpty { return (node.mapAny { visit($0, level, &pass) }, pass) }
    let coded = children { ModelChildren.mapCoded(node, $0) }
    let isCoded =
      asked.allSatisfy { Self.contains(coded, $0) } && leftOut.contains { Self.contains(coded, $0) }
    for child in leftOut where !isCoded || !Self.contains(coded, child) {
      noteLost(child, of: node, level)
    }
    if !isCoded { return (node.mapAny { visit($0, level, &pass) }, pass) }
    let mapped = ModelChildren.mapCoded(node) { child in
      let hadChanged = exchange(&pass.hasChanged, with: false)
      let new = visit(child, level, &pass)
      if pass.hasChanged, Self.contains(leftOut, child) {
        report(leftOut: child, by: node, "it was replaced through the coding")
      }
      if hadChanged { pass.hasChanged = true }
      return new
    }
    return (mapped, pass)
  }

  /// The children that are asked for.
  private func children(
    _ map: ((any Model) -> (any Model)?) -> (any Model)?
  ) -> [any Model] {
    var found: [any Model] = []
    _ = map { child in
      found.append(child)
      watch.keepsChild = true
      return child
    }
    return found
  }

  /// Reports a child that would be another one now and can't be replaced.
  private mutating func noteLost(_ child: any Model, of node: any Model, _ level: TreeLevel) {
    let start = Start(self)
    let outcome = visit(child, level)
    start.goBack(&self)
    if case .unchanged = outcome { return }
    // What is shown of it is not what others show.
    mergesOddly = true
    report(leftOut: child, by: node, "it stays as it was")
  }

  private static func contains(_ models: [any Model], _ child: any Model) -> Bool {
    models.contains { model in
      guard type(of: model) == type(of: child) else { return false }
      guard let own = model.modelIdentifier, let other = child.modelIdentifier else {
        return model.modelIdentifier == nil && child.modelIdentifier == nil
          && model.isEqual(to: ModelBoxes.simple(child))
      }
      return own.hasSameBytes(as: other)
    }
  }

  private mutating func report(leftOut child: any Model, by node: any Model, _ outcome: String) {
    let type = type(of: child)
    let name = child.modelIdentifier.map { "\(type) \"\($0)\"" } ?? "a \(type)"
    report(
      .childrenDisagree, node, "`map` leaves out \(name), which `forEach` names; \(outcome)")
  }
}
