/// Why entities are not in a graph: a server or a source has failed.
///
/// ```swift
/// let graph = try await books.graph(shape: .all.toleratingFailures, in: .localOr(.remote()))
/// for failure in graph.failures { show("\(failure.path) can't be loaded: \(failure.error)") }
/// ```
public struct GraphFailure: Sendable {
  /// The path that led to them: the names of the relationships from the root on, with dots between.
  public let path: String
  /// The identifiers of their nodes.
  public internal(set) var identifiers: [String]
  /// What was thrown.
  public let error: any Error
}

extension GraphFailure: Equatable {
  /// Whether both say the same of the same entities.
  ///
  /// - Parameters:
  ///   - left: A failure.
  ///   - right: A failure.
  /// - Returns: Whether path and identifiers are equal, and the texts of the errors.
  public static func == (left: GraphFailure, right: GraphFailure) -> Bool {
    left.path == right.path && left.identifiers == right.identifiers
      && "\(left.error)" == "\(right.error)"
  }
}
