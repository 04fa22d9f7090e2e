import PandoModels

/// A model of a live tree and what replaces it.
struct Replacement: Sendable {
  let old: any SimpleModel
  let new: (any SimpleModel)?
}
