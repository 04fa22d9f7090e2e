import PandoModels
import PandoRecords
import PandoSystem

/// One pass of a model's `map` over its children.
struct ChildPass {
  /// The count of children that `map` has passed.
  var count = 0
  /// True if a child was replaced or removed.
  var hasChanged = false
}

/// Children that a model's `forEach` visits and its `map` leaves out.
///
/// They are registered, so updates find the tree. `map` alone would keep them unchanged, so they
/// are replaced through the model's coding.
extension Regenerator {
  /// The regenerator's results before it visits the children of a model.
  struct Start {
    private let changedCount: Int
    private let replacementCount: Int
    private let replacedCount: Int

    init(_ regenerator: borrowing Regenerator) {
      changedCount = regenerator.changed.count
      replacementCount = regenerator.replacements.count
      replacedCount = regenerator.replacedCount
    }

    /// Discards the later results.
    func goBack(_ regenerator: inout Regenerator) {
      regenerator.changed.removeSubrange(changedCount...)
      regenerator.replacements.removeSubrange(replacementCount...)
      regenerator.replacedCount = replacedCount
    }
  }

  /// Returns true if a model has children that its `map` has not passed.
  func leavesChildrenOut(_ node: any Model, _ pass: ChildPass) -> Bool {
    var count = 0
    node.forEach { _ in count += 1 }
    return count > pass.count
  }

  /// Replaces the children of a model, including those that `map` leaves out if its coding reaches
  /// them.
  ///
  /// - Returns: The result of `map`.
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

  /// Returns the children that a closure passes.
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

  /// Reports a child that has changed and can't be replaced.
  private mutating func noteLost(_ child: any Model, of node: any Model, _ level: TreeLevel) {
    let start = Start(self)
    let outcome = visit(child, level)
    start.goBack(&self)
    if case .unchanged = outcome { return }
    // The shown child differs from the one in other trees.
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
