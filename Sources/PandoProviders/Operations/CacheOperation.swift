import PandoConsistency
import PandoStore

/// A write to a custom cache that changes no shown data.
final class CacheOperation: ManagedOperation {
  let context: (any Sendable)?
  let outcome = PendingWrite()
  let holderNumber: UInt64? = nil
  let cacheKeys: [String]
  private let write: @Sendable (any CacheDelegate) async throws -> Void

  /// Creates a write of a cache key.
  init(
    _ cacheKey: String, context: (any Sendable)?,
    _ write: @escaping @Sendable (any CacheDelegate) async throws -> Void
  ) {
    cacheKeys = [cacheKey]
    self.context = context
    self.write = write
  }

  var subjects: [String] { cacheKeys }

  func makeUpdate() -> LiveUpdate { LiveUpdate() }
  func write(_ transaction: inout ModelTransaction) throws {}
  func write(to cache: any CacheDelegate) async throws { try await write(cache) }
  func fail(_ error: any Error, _ scope: PipelineScope) {}
}
