import PandoSystem

/// Notes the local identifiers that are met while a value is encoded.
///
/// It travels in the `userInfo` of the encoder; `EntityIdentifier` looks for it there.
package final class LocalIdentifierCollector: Sendable {
  /// Where it is in `userInfo`.
  package static let key: CodingUserInfoKey = {
    guard let key = CodingUserInfoKey(rawValue: "pando.localIdentifiers") else {
      preconditionFailure("every text makes a key")
    }
    return key
  }()

  private let found = Locked<[String]>([])

  package init() {}

  /// The model identifiers that were met, each once, in order.
  package var modelIdentifiers: [String] { found.withLock { $0 } }

  /// Notes one.
  ///
  /// - Parameter modelIdentifier: Of an entity that only has a local identifier.
  package func note(_ modelIdentifier: String) {
    found.withLock { found in
      if !found.contains(where: { $0.hasSameBytes(as: modelIdentifier) }) {
        found.append(modelIdentifier)
      }
    }
  }
}
