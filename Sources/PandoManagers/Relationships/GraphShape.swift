/// How far a graph reaches from its roots, and where its entities come from.
///
/// ```swift
/// GraphShape<Loan>.including(GraphPath(\.book, \.author)).excluding(GraphPath(\.reader))
/// ```
/// Without further words a graph has all relationships of its roots, of what they lead to, and so on,
/// up to ``depthLimit`` steps.
public struct GraphShape<Root: Entity>: Sendable {
  /// How many steps a graph reaches at most unless more is said.
  public static var defaultDepthLimit: Int { 10 }

  /// The paths that are followed; `nil` for all.
  public private(set) var included: [GraphPath<Root>]?
  /// The paths that are not followed, nor anything behind them.
  public private(set) var excluded: [GraphPath<Root>] = []
  /// Whether everything behind the end of an included path is followed too.
  public private(set) var isRecursive = false
  /// How many steps the graph reaches at most.
  public private(set) var depthLimit = GraphShape.defaultDepthLimit
  /// Whether a graph is shown without what could not be asked for.
  public internal(set) var toleratesFailures = false
  var origins: [(path: GraphPath<Root>, origin: GraphOrigin)] = []
  var rest: GraphReading?

  private init() {}

  /// All relationships, up to ``defaultDepthLimit`` steps.
  public static var all: GraphShape { GraphShape() }

  /// The roots alone.
  public static var rootsOnly: GraphShape {
    var shape = GraphShape()
    shape.included = []
    return shape
  }

  /// Some paths and what leads to them.
  ///
  /// - Parameters:
  ///   - paths: The paths.
  ///   - recursive: Whether everything behind their ends is followed too.
  /// - Returns: The shape.
  public static func including(
    _ paths: GraphPath<Root>..., recursive: Bool = false
  ) -> GraphShape {
    var shape = GraphShape()
    shape.included = paths
    shape.isRecursive = recursive
    return shape
  }

  /// Everything but some paths and what is behind them.
  ///
  /// - Parameter paths: The paths.
  /// - Returns: The shape.
  public static func excluding(_ paths: GraphPath<Root>...) -> GraphShape {
    GraphShape().without(paths)
  }

  /// This shape without some paths and what is behind them.
  ///
  /// - Parameter paths: The paths.
  /// - Returns: The shape.
  public func excluding(_ paths: GraphPath<Root>...) -> GraphShape { without(paths) }

  private func without(_ paths: [GraphPath<Root>]) -> GraphShape {
    var shape = self
    shape.excluded += paths
    return shape
  }

  /// This shape with another limit.
  ///
  /// *Precondition:* the limit is not negative.
  ///
  /// - Parameter depthLimit: How many steps the graph reaches at most; 0 for the roots alone.
  /// - Returns: The shape.
  public func limited(toDepth depthLimit: Int) -> GraphShape {
    precondition(depthLimit >= 0, "a graph can't have the depth limit \(depthLimit)")
    var shape = self
    shape.depthLimit = depthLimit
    return shape
  }
}
