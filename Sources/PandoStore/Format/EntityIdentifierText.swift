/// How local identifiers look as text.
package enum EntityIdentifierText {
  package static let localPrefix = "local:"

  /// The identifier of a node: the namespace, a colon and the text of the identifier in it.
  package static func modelIdentifier(_ text: String, in namespace: String) -> String {
    var identifier = namespace
    identifier.reserveCapacity(namespace.utf8.count + 1 + text.utf8.count)
    identifier += ":"
    identifier += text
    return identifier
  }

  /// The text after `local:`; `nil` if the text does not begin with it.
  package static func localKey(of text: String) -> String? {
    // Most texts differ in the first byte.
    guard text.utf8.first == UInt8(ascii: "l") else { return nil }
    guard text.utf8.starts(with: localPrefix.utf8) else { return nil }
    return String(text.utf8.dropFirst(localPrefix.utf8.count))
  }
}
