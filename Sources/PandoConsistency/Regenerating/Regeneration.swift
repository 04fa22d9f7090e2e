package import PandoModels

/// A live tree as an update leaves it.
package struct Regeneration: Sendable {
  /// The new tree; `nil` if its root is deleted.
  package var model: (any SimpleModel)?
  /// Whether the new tree holds the same identifiers by the same types as the old one, so that nothing
  /// has to be registered.
  package var hasSameNodes = false
  /// Whether the tree holds every node that the update carries just as it is carried.
  var isAsCarried = false
}
