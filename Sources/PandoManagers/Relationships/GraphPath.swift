/// A path along relationships, from the roots of a graph.
///
/// ```swift
/// GraphPath(\Loan.book, \Book.author)
/// ```
/// Each step has to be declared in `relationships` of its type; otherwise loading throws.
public struct GraphPath<Root: Entity>: Hashable, Sendable {
  /// The names of the relationships, from the root.
  public let names: [String]

  /// Makes a path of any length from names, for tools.
  ///
  /// - Parameter names: The declared names of the relationships, from the root.
  public init(names: [String]) { self.names = names }

  /// Makes a path of one step.
  ///
  /// - Parameter first: A relationship of the root.
  public init<First: RelationshipValue>(_ first: any KeyPath<Root, First> & Sendable) {
    names = [Self.name(first)]
  }

  /// Makes a path of two steps.
  ///
  /// - Parameters:
  ///   - first: A relationship of the root.
  ///   - second: A relationship of its target.
  public init<First: RelationshipValue, Second: RelationshipValue>(
    _ first: any KeyPath<Root, First> & Sendable,
    _ second: any KeyPath<First.Target, Second> & Sendable
  ) {
    names = [Self.name(first), Self.name(second)]
  }

  /// Makes a path of three steps.
  ///
  /// - Parameters:
  ///   - first: A relationship of the root.
  ///   - second: A relationship of its target.
  ///   - third: A relationship of that target.
  public init<First: RelationshipValue, Second: RelationshipValue, Third: RelationshipValue>(
    _ first: any KeyPath<Root, First> & Sendable,
    _ second: any KeyPath<First.Target, Second> & Sendable,
    _ third: any KeyPath<Second.Target, Third> & Sendable
  ) {
    names = [Self.name(first), Self.name(second), Self.name(third)]
  }

  /// The declared name of a relationship; loading reports an undeclared one.
  private static func name<E: Entity, Value: RelationshipValue>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> String {
    E.relationships.first { $0.keyPath == keyPath }?.name ?? "\(keyPath)"
  }
}

extension GraphPath: CustomStringConvertible {
  /// The names, joined by dots.
  public var description: String { names.joined(separator: ".") }
}
