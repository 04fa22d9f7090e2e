import PandoModels
import PandoSystem

/// Collects the local identifiers in a value while it is encoded.
///
/// The `userInfo` of the encoder contains it, for `EntityIdentifier`.
package final class LocalIdentifierCollector: Sendable {
  /// Its key in `userInfo`.
  package static let key: CodingUserInfoKey = {
    guard let key = CodingUserInfoKey(rawValue: "pando.localIdentifiers") else {
      preconditionFailure("every text makes a key")
    }
    return key
  }()

  private let found = Locked<[String]>([])

  package init() {}

  /// The collected model identifiers, without duplicates, in order.
  package var modelIdentifiers: [String] { found.withLock { $0 } }

  /// Adds an identifier.
  ///
  /// - Parameter modelIdentifier: The identifier of an entity that has only a local one.
  package func note(_ modelIdentifier: String) {
    found.withLock { found in
      if !found.contains(where: { $0.hasSameBytes(as: modelIdentifier) }) {
        found.append(modelIdentifier)
      }
    }
  }
}
