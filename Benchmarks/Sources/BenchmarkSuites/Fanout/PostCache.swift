import Pando

/// A cache whose trees lie in memory; it keeps nothing that is set.
struct PostCache<Post: LivePost>: CacheDelegate {
  let posts: [String: Post]

  func model<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> T? {
    posts[cacheKey] as? T
  }

  func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?
  ) async throws {}

  func collection<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> [T]? {
    nil
  }

  func setCollection<T: SimpleModel>(
    _ models: [T], forKey cacheKey: String, context: (any Sendable)?
  ) async throws {}

  func deleteModel(forKey cacheKey: String, context: (any Sendable)?) async throws {}
}
