/// What a delete did.
public struct Deletion: Hashable, Sendable {
  /// The identifiers that are gone: the one asked for first, then the parents that required it.
  public internal(set) var deleted: [String] = []
  /// The identifiers of nodes that lost a child and stay, in the order the store first saw them.
  public internal(set) var updated: [String] = []
  /// The cache keys of the collections that lost an element.
  public internal(set) var collections: [String] = []
}
