package import PandoSystem

/// How deep a model lies in a tree, for those who go down trees of models in memory.
package struct TreeLevel {
  /// How many models are around it.
  private var depth = 0
  /// How many nodes are around it.
  package private(set) var nodeCount = 0
  /// How many models without identifier are between it and the node around it.
  private var innerCount = 0

  /// The level of a root.
  package init() {}

  /// The level of the children of a model that lies here.
  ///
  /// - Parameter isNode: Whether the model has an identifier.
  /// - Returns: One level more.
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

  /// Whether a model may not lie so deep: the limits are those of stored trees.
  ///
  /// - Parameter isNode: Whether the model has an identifier.
  /// - Returns: Whether it is beyond a limit.
  package func isTooDeep(isNode: Bool) -> Bool {
    isNode
      ? nodeCount >= RecordLimits.maximumNodeDepth
      : innerCount >= RecordLimits.maximumNestingDepth
  }

  /// Goes on with what lies here, on a larger stack if it is time for one.
  package func onStack(_ body: () -> Void) {
    // A level of models takes more than one of coding: a stack is for a quarter as many.
    let isDue = depth & (LargeStack.levelCount / 4 - 1) == LargeStack.firstLevel / 2
    guard isDue, depth > LargeStack.levelCount / 4 || !LargeStack.isCurrent else { return body() }
    LargeStack.runModels(body)
  }
}

extension LargeStack {
  /// Runs a part of what is done with models, with what the coder has said for its thread.
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
  ///   - isFirst: Whether the coding has run on the caller's stack so far, which may be a large one.
  ///   - body: The part.
  /// - Returns: What it returns.
  /// - Throws: What it throws.
  static func coding<Result>(isFirst: Bool, _ body: () throws -> Result) throws -> Result {
    if isFirst, isCurrent { return try body() }
    var result: Swift.Result<Result, any Error>?
    runModels { result = Swift.Result { try body() } }
    guard let result else { preconditionFailure("the closure has run") }
    return try result.get()
  }
}

extension ModelChildren {
  /// Calls a closure with a model and all that is in it, each model before its children.
  ///
  /// What is nested too deep is left out.
  ///
  /// - Parameters:
  ///   - model: The root.
  ///   - level: How deep it lies.
  ///   - tooDeep: Called for each model that is left out.
  ///   - visit: Gets a model and its identifier; returns whether it wants what is in the model.
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
