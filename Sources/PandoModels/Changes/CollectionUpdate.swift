/// What one commit did to one ordered list.
public struct CollectionUpdate: Codable, Hashable, Sendable {
  /// The key of the list.
  public let cacheKey: String
  /// What happened to it.
  public let change: CollectionChange

  /// Makes the change of one list.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the list.
  ///   - change: What happened to it.
  public init(cacheKey: String, change: CollectionChange) {
    self.cacheKey = cacheKey
    self.change = change
  }
}
