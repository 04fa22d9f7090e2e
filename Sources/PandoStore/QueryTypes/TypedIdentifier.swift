/// The identifier of a type whose nodes are named by a namespace and a key.
///
/// ``Queryable/identifierType`` returns it.
package protocol TypedIdentifier: QueryRepresentable {
  /// The common prefix of the identifiers of nodes, without a colon.
  static var namespace: String { get }

  /// Whether each text is a key.
  static var hasTextKeys: Bool { get }

  /// The identifier of the node with a value of the field `id`; `nil` if there can be none.
  static func nodeIdentifier(of value: QueryValue) -> String?

  /// The value of the field `id` of a node; `nil` for a node of another namespace.
  static func value(ofNode identifier: String) -> QueryValue?

  /// Whether a key path leads to the field `id`, by the requirement of its protocol.
  static func isIdentifier(_ keyPath: AnyKeyPath) -> Bool

  /// The field `id`, a `QueryField` of the type.
  static var field: any Sendable { get }
}
