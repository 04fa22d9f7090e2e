package import ModelCore

/// A live tree as an update leaves it.
package struct Regeneration: Sendable {
  /// The new tree; `nil` if its root is deleted.
  package var model: (any SimpleModel)?
  /// What changed in it.
  package var updates: ModelUpdates
}
