import PandoModels
import PandoStore

/// How a followed query is found by the changes that may concern it.
enum FollowedKey: Sendable, Hashable {
  /// It asks for these nodes and for nothing else.
  case identifiers(Set<ByteString>)
  /// What it asks for has this value in a declared field.
  case value(field: String, QueryValue)
  /// Any entity of the type may match.
  case type

  /// Whether it asks for a node by name.
  func names(_ identifier: ByteString) -> Bool {
    if case .identifiers(let identifiers) = self { return identifiers.contains(identifier) }
    return false
  }
}
