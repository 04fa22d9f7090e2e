/// A way through relationships, from the entities at the root of a graph.
///
/// ```swift
/// GraphPath(\Loan.book, \Book.author)
/// ```
/// Every step has to be declared in `relationships` of its type; one that is not makes loading throw.
public struct GraphPath<Root: Entity>: Hashable, Sendable {
  /// The names of the relationships, from the root on.
  public let names: [String]

  /// A path of any length by names, for tools.
  ///
  /// - Parameter names: The declared names of the relationships, from the root on.
  public init(names: [String]) { self.names = names }

  /// A path of one step.
  ///
  /// - Parameter first: A relationship of the root.
  public init<First: RelationshipValue>(_ first: any KeyPath<Root, First> & Sendable) {
    names = [Self.name(first)]
  }

  /// A path of two steps.
  ///
  /// - Parameters:
  ///   - first: A relationship of the root.
  ///   - second: A relationship of what that leads to.
  public init<First: RelationshipValue, Second: RelationshipValue>(
    _ first: any KeyPath<Root, First> & Sendable,
    _ second: any KeyPath<First.Target, Second> & Sendable
  ) {
    names = [Self.name(first), Self.name(second)]
  }

  /// A path of three steps.
  ///
  /// - Parameters:
  ///   - first: A relationship of the root.
  ///   - second: A relationship of what that leads to.
  ///   - third: A relationship of what that leads to.
  public init<First: RelationshipValue, Second: RelationshipValue, Third: RelationshipValue>(
    _ first: any KeyPath<Root, First> & Sendable,
    _ second: any KeyPath<First.Target, Second> & Sendable,
    _ third: any KeyPath<Second.Target, Third> & Sendable
  ) {
    names = [Self.name(first), Self.name(second), Self.name(third)]
  }

  /// The declared name of a relationship; what is not declared is told when the graph is loaded.
  private static func name<E: Entity, Value: RelationshipValue>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> String {
    E.relationships.first { $0.keyPath == keyPath }?.name ?? "\(keyPath)"
  }
}

extension GraphPath: CustomStringConvertible {
  /// The names, with dots between them.
  public var description: String { names.joined(separator: ".") }
}
