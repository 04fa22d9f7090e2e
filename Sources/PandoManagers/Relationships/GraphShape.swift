/// The extent of a graph from its roots, and the sources of its entities.
///
/// ```swift
/// GraphShape<Loan>.including(GraphPath(\.book, \.author)).excluding(GraphPath(\.reader))
/// ```
/// By default a graph has all relationships of its roots, of their targets and so on, up to 10
/// steps.
public struct GraphShape<Root: Entity>: Sendable {
  /// The followed paths; `nil` for all.
  private(set) var included: [GraphPath<Root>]?
  /// The paths that are not followed, with everything behind them.
  private(set) var excluded: [GraphPath<Root>] = []
  /// Whether everything behind the end of an included path is followed.
  private(set) var isRecursive = false
  /// The largest number of steps from a root.
  private(set) var depthLimit = 10
  /// Whether failed requests are tolerated.
  var toleratesFailures = false
  var origins: [(path: GraphPath<Root>, origin: GraphOrigin)] = []
  var rest: GraphReading?

  private init() {}

  /// All relationships, up to 10 steps.
  public static var all: GraphShape { GraphShape() }

  /// The given paths, with the entities on the way.
  ///
  /// - Parameters:
  ///   - paths: The paths.
  ///   - recursive: Whether everything behind their ends is followed.
  /// - Returns: The shape.
  public static func including(
    _ paths: GraphPath<Root>..., recursive: Bool = false
  ) -> GraphShape {
    var shape = GraphShape()
    shape.included = paths
    shape.isRecursive = recursive
    return shape
  }

  /// All paths except the given ones and everything behind them.
  ///
  /// - Parameter paths: The paths.
  /// - Returns: The shape.
  public static func excluding(_ paths: GraphPath<Root>...) -> GraphShape {
    GraphShape().without(paths)
  }

  /// This shape without the given paths and everything behind them.
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
  /// - Parameter depthLimit: The largest number of steps from a root; 0 for only the roots.
  /// - Returns: The shape.
  public func limited(toDepth depthLimit: Int) -> GraphShape {
    precondition(depthLimit >= 0, "a graph can't have the depth limit \(depthLimit)")
    var shape = self
    shape.depthLimit = depthLimit
    return shape
  }
}
