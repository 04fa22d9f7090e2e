import PandoModels
import PandoStore

/// How changes find a followed query.
enum FollowedKey: Sendable, Hashable {
  /// The query names these nodes and has no other condition.
  case identifiers(Set<ByteString>)
  /// Each match has all of these values, at least one; the query is found by one of them.
  case values([FieldValue])
  /// Any entity of the type may match.
  case type

  /// Whether the query names a node.
  func names(_ identifier: ByteString) -> Bool {
    if case .identifiers(let identifiers) = self { return identifiers.contains(identifier) }
    return false
  }
}

/// A value of a field.
struct FieldValue: Sendable, Hashable {
  let field: String
  let value: QueryValue
}
