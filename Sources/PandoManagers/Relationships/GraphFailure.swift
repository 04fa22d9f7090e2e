/// The failure of a server or a source, because of which entities are not in a graph.
///
/// ```swift
/// let graph = try await books.graph(shape: .all.toleratingFailures, in: .localOr(.remote()))
/// for failure in graph.failures { show("\(failure.path) can't be loaded: \(failure.error)") }
/// ```
public struct GraphFailure: Sendable {
  /// The path to the entities: the names of the relationships from the root, joined by dots.
  public let path: String
  /// The identifiers of their nodes.
  public internal(set) var identifiers: [String]
  /// The error.
  public let error: any Error
}

extension GraphFailure: Equatable {
  /// Compares paths, identifiers, and the texts of the errors.
  ///
  /// - Parameters:
  ///   - left: A failure.
  ///   - right: A failure.
  /// - Returns: Whether all are equal.
  public static func == (left: GraphFailure, right: GraphFailure) -> Bool {
    left.path == right.path && left.identifiers == right.identifiers
      && "\(left.error)" == "\(right.error)"
  }
}
