import PandoModels

/// What an update carries for one identifier, as the regenerator needs it.
final class Carried {
  /// What counts before the rest, for nodes of exactly its type.
  let stored: [any Model]
  /// The only model that counts, if there is just one and it was given.
  let only: (any Model)?
  /// What was given, if it is not the only one that counts.
  private let others: [any Model]
  /// Whether no model of the update has nodes below it: then the identifiers of a tree stay the same
  /// unless the old node had some.
  let isLeaf: Bool

  init(_ versions: LiveUpdate.Versions, isOnlyOne: Bool) {
    stored = versions.stored.isEmpty ? [] : versions.stored.compactMap { ModelTypes.asModel($0) }
    if stored.isEmpty, versions.given.count == 1 {
      only = ModelTypes.asModel(versions.given[0])
      others = []
    } else {
      let given = versions.given.compactMap { ModelTypes.asModel($0) }
      only = stored.isEmpty && given.count == 1 ? given[0] : nil
      others = given
    }
    // What is given is flattened as well: with a node below it there would be another identifier.
    isLeaf = isOnlyOne && stored.isEmpty
  }

  /// What was given, one model a type, in traversal order.
  var given: [any Model] { others.isEmpty ? only.map { [$0] } ?? [] : others }
}
