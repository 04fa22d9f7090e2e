package import PandoModels
import PandoSystem

/// The difference between the data that a manager shows and the stored data, in front of each
/// snapshot.
///
/// A change in memory adds its nodes. A write that names a node removes the node, even if the write
/// does not change it.
///
/// - A node set in memory is shown as live trees contain it. The overlay keeps no model of it,
///   because only models of live trees are updated with the nodes inside them. So the change is lost
///   with the last tree. ``PipelineScope/joinStored(_:)`` adds it to data from a snapshot.
/// - A node deleted in memory is in no live tree, until it is fetched. The overlay keeps its
///   identifier.
///
/// Used on the pipeline only.
package struct Overlay {
  /// True after the first change that the store does not have.
  ///
  /// Before it, live trees contain exactly what the store has.
  package private(set) var isUsed = false
  /// The nodes deleted in memory only.
  private(set) var gone: Set<ByteString> = []

  /// Records that live trees show data that the store does not have.
  package mutating func use() { isUsed = true }

  /// Applies an update, before it is staged.
  mutating func apply(_ update: LiveUpdate) {
    if update.operation?.isWritten == false { isUsed = true }
    if !gone.isEmpty {
      release(update.versions.keys)
      release(update.deleted)
    }
    if !update.hidden.isEmpty { gone.formUnion(update.hidden) }
  }

  /// Removes nodes that are set, deleted or loaded again.
  package mutating func release(_ nodes: some Sequence<ByteString>) {
    if !gone.isEmpty { gone.subtract(nodes) }
  }

  /// Returns true if a node was deleted in memory only.
  package func hides(_ node: ByteString) -> Bool { gone.contains(node) }

  /// Stops the process if a node that was deleted in memory is shown.
  ///
  /// - Parameter shown: Returns the models that live trees contain for some nodes.
  func checkInvariants(_ shown: (Set<ByteString>) -> [ByteString: [any SimpleModel]]) {
    precondition(isUsed || gone.isEmpty, "an unused overlay hides nodes")
    let shown = shown(gone).keys.map(\.text)
    precondition(shown.isEmpty, "\(shown) were deleted in memory and are shown")
  }
}
