import PandoModels
import PandoStore

/// How a followed query is found by the changes that may concern it.
enum FollowedKey: Sendable, Hashable {
  /// It asks for these nodes and for nothing else.
  case identifiers(Set<ByteString>)
  /// What matches has each of these values, of which one is enough to find it by; there is one at
  /// least.
  case values([FieldValue])
  /// Any entity of the type may match.
  case type

  /// Whether it asks for a node by name.
  func names(_ identifier: ByteString) -> Bool {
    if case .identifiers(let identifiers) = self { return identifiers.contains(identifier) }
    return false
  }
}

/// A value that a field has.
struct FieldValue: Sendable, Hashable {
  let field: String
  let value: QueryValue
}
