import PandoStore

/// What a store says about a node that is about to be set.
struct StoredFacts {
  /// The rules of the imports.
  var mapping = ImportMapping()
  /// The types of the node's records; none when it is not there.
  var typeNames: [String] = []

  /// What an empty store says.
  init() {}

  /// Looks into a store.
  init(about identifier: String, in snapshot: ModelSnapshot) throws {
    mapping = try snapshot.importMapping()
    if !identifier.isEmpty { typeNames = try snapshot.typeNames(of: identifier) }
  }
}
