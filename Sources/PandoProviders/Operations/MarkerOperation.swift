import PandoConsistency
import PandoStore

/// A marker in the order of writes, without a change.
final class MarkerOperation: ManagedOperation {
  let outcome = PendingWrite()
  let context: (any Sendable)? = nil
  let holderNumber: UInt64? = nil
  let isChange = false

  func makeUpdate() -> LiveUpdate { LiveUpdate() }
  func write(_ transaction: inout ModelTransaction) throws {}
  func write(to cache: any CacheDelegate) async throws {}
  func fail(_ error: any Error, _ scope: PipelineScope) {}
}
