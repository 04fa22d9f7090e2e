import PandoConsistency
import PandoModels

/// A question to a custom cache that has not been answered.
final class CacheFetch: @unchecked Sendable {
  // Sendable because only the pipeline changes it.
  let identifier: String
  /// Which action of the provider it is.
  let action: UInt64
  /// When the cache was asked.
  var joinsSince: UInt64 = 0
  /// Whether the identifier has been deleted since.
  var isDeleted = false
  /// Whether the identifier has been shown since: the answer is older.
  var isOvertaken = false

  init(_ identifier: String, action: UInt64) {
    self.identifier = identifier
    self.action = action
  }
}
