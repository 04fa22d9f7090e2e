package import PandoModels

/// A live tree after an update.
package struct Regeneration: Sendable {
  /// The new tree; `nil` if its root is deleted.
  package var model: (any SimpleModel)?
  /// True if the new tree has the same identifiers in the same types as the old one.
  ///
  /// The registry then needs no change.
  package var hasSameNodes = false
  /// True if the tree contains each node of the update exactly as the update has it.
  var isAsCarried = false
}
