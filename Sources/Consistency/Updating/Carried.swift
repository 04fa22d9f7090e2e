import ModelCore

/// What an update carries for one identifier, as the regenerator needs it.
final class Carried {
  /// What counts before the rest, for nodes of exactly its type.
  let stored: [any Model]
  let given: [any Model]
  /// The only model that counts, if there is just one and it was given.
  let only: (any Model)?
  /// Whether no model of the update has nodes below it: then the identifiers of a tree stay the same
  /// unless the old node had some.
  let isLeaf: Bool

  init(_ versions: LiveUpdate.Versions, isOnlyOne: Bool) {
    stored = versions.stored.compactMap { ModelTypes.asModel($0) }
    given = versions.given.compactMap { ModelTypes.asModel($0) }
    only = stored.isEmpty && given.count == 1 ? given[0] : nil
    // What is given is flattened as well: with a node below it there would be another identifier.
    isLeaf = isOnlyOne && stored.isEmpty
  }
}
