import PandoConsistency
import PandoModels

/// A pending request to a custom cache.
final class CacheFetch: @unchecked Sendable {
  // Sendable because its mutable state is used on the pipeline only.
  let identifier: String
  /// The number of the provider's action that made the request.
  let action: UInt64
  /// The join number at the time of the request.
  var joinsSince: UInt64 = 0
  /// True if the identifier was deleted since the request.
  var isDeleted = false
  /// True if the provider has shown the identifier since the request, so that the answer is older.
  var isOvertaken = false

  init(_ identifier: String, action: UInt64) {
    self.identifier = identifier
    self.action = action
  }
}
