package import PandoModels
package import PandoSystem

/// The depth of a model in a tree, for code that descends trees of models in memory.
package struct TreeLevel {
  /// The number of models around it.
  private var depth = 0
  /// The number of nodes around it.
  package private(set) var nodeCount = 0
  /// The number of models without identifier between it and the node around it.
  private var innerCount = 0

  /// The level of a root.
  package init() {}

  /// The level of the children of a model at this level.
  ///
  /// - Parameter isNode: Whether the model has an identifier.
  /// - Returns: The next level.
  package func below(isNode: Bool) -> TreeLevel {
    var level = self
    level.depth += 1
    if isNode {
      level.nodeCount += 1
      level.innerCount = 0
    } else {
      level.innerCount += 1
    }
    return level
  }

  /// Whether a model is too deep; the limits are those of stored trees.
  ///
  /// - Parameter isNode: Whether the model has an identifier.
  /// - Returns: Whether it exceeds a limit.
  package func isTooDeep(isNode: Bool) -> Bool {
    isNode
      ? nodeCount >= RecordLimits.maximumNodeDepth
      : innerCount >= RecordLimits.maximumNestingDepth
  }

  /// Continues with the contents of this level, on a larger stack if necessary.
  package func onStack(_ body: () -> Void) {
    // A level of models needs more stack than one of coding: a stack serves a quarter as many.
    let isDue = depth & (LargeStack.levelCount / 4 - 1) == LargeStack.firstLevel / 2
    guard isDue, depth > LargeStack.levelCount / 4 || !LargeStack.isCurrent else { return body() }
    LargeStack.runModels(body)
  }
}

extension LargeStack {
  /// Runs a part of an operation on models on a larger stack, with the task-local watches.
  package static func runModels(_ body: () -> Void) {
    let (mapWatch, mergeWatch) = (MapWatch.current, MergeWatch.current)
    run {
      MapWatch.$current.withValue(mapWatch) {
        MergeWatch.$current.withValue(mergeWatch, operation: body)
      }
    }
  }

  /// Runs a part of a coding.
  ///
  /// - Parameters:
  ///   - isFirst: Whether the coding has run on the caller's stack so far, which may be a large
  ///     one.
  ///   - body: The part.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  static func coding<Result>(isFirst: Bool, _ body: () throws -> Result) throws -> Result {
    if isFirst, isCurrent { return try body() }
    var result: Swift.Result<Result, any Error>?
    runModels { result = Swift.Result { try body() } }
    guard let result else { preconditionFailure("the closure has run") }
    return try result.get()
  }
}

extension ModelChildren {
  /// Calls a closure with a model and its descendants, each model before its children.
  ///
  /// Models nested too deep are omitted.
  ///
  /// - Parameters:
  ///   - model: The root.
  ///   - level: The depth of the root.
  ///   - tooDeep: Called for each omitted model.
  ///   - visit: Receives a model and its identifier; returns whether to visit its contents.
  package static func walk(
    _ model: any Model, at level: TreeLevel = TreeLevel(), tooDeep: () -> Void = {},
    _ visit: (any Model, String?) -> Bool
  ) {
    let identifier = model.modelIdentifier
    if level.isTooDeep(isNode: identifier != nil) {
      tooDeep()
      return
    }
    guard visit(model, identifier) else { return }
    let inner = level.below(isNode: identifier != nil)
    inner.onStack { model.forEach { walk($0, at: inner, tooDeep: tooDeep, visit) } }
  }
}
