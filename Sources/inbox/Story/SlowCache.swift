import Pando

/// A cache that is no Pando store: it holds one model, and answers when it is let go.
///
/// Any class that can get and set by key can be a manager's cache; this one forgets what it is given.
final class SlowCache: CacheDelegate {
  /// Holds the answers back; there is one path.
  let gate = Gate()
  static let path = "the cache"
  private let message: Message
  private let log: Log

  /// Makes a cache.
  ///
  /// - Parameters:
  ///   - message: The one model that it has.
  ///   - log: Where it says that it answers.
  init(holding message: Message, _ log: Log) {
    self.message = message
    self.log = log
  }

  func model<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> T? {
    await gate.pass(Self.path)
    await log("SlowCache", .cache, "answers \(message)")
    return cacheKey == message.modelIdentifier ? message as? T : nil
  }

  func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?
  ) async throws {}

  func collection<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> [T]? { nil }

  func setCollection<T: SimpleModel>(
    _ models: [T], forKey cacheKey: String, context: (any Sendable)?
  ) async throws {}

  func deleteModel(forKey cacheKey: String, context: (any Sendable)?) async throws {}
}
