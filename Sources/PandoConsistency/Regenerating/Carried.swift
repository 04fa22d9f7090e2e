import PandoModels

/// The models of an update for one identifier, in the form that the regenerator needs.
final class Carried {
  /// The stored models, which take precedence for nodes of exactly their type.
  let stored: [any Model]
  /// The only model, if there is just one and it was given.
  let only: (any Model)?
  /// The given models, if there are several models.
  private let others: [any Model]
  private let versions: LiveUpdate.Versions
  /// True if no model of the update contains other nodes.
  ///
  /// The identifiers of a tree then stay the same, unless the old node contained some.
  let isLeaf: Bool

  init(_ versions: LiveUpdate.Versions, isOnlyOne: Bool) {
    self.versions = versions
    stored = versions.stored.isEmpty ? [] : versions.stored.compactMap { ModelTypes.asModel($0) }
    if stored.isEmpty, versions.given.count == 1 {
      only = ModelTypes.asModel(versions.given[0])
      others = []
    } else {
      let given = versions.given.compactMap { ModelTypes.asModel($0) }
      only = stored.isEmpty && given.count == 1 ? given[0] : nil
      others = given
    }
    // Given trees are flattened, so a child node would be another identifier of the update.
    isLeaf = isOnlyOne && stored.isEmpty
  }

  /// Returns true if the node was deleted, and has no model of a type since.
  func hasLost(_ type: any SimpleModel.Type) -> Bool { versions.hasLost(type) }

  /// The given models, one for each type, in traversal order.
  var given: [any Model] { others.isEmpty ? only.map { [$0] } ?? [] : others }
}
