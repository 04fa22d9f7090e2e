import PandoModels

/// A model of a live tree and its replacement.
struct Replacement: Sendable {
  let old: any SimpleModel
  let new: (any SimpleModel)?
}
