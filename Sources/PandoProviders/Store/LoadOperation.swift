import PandoConsistency
import PandoModels
import PandoStore

/// A load that waits for the queued writes, which may contain the missing data.
final class LoadOperation: ManagedOperation {
  private let load: any StoreLoad
  private let bridge: StoreBridge
  let outcome = PendingWrite()
  let context: (any Sendable)? = nil
  let holderNumber: UInt64? = nil
  let isChange = false

  init(_ load: any StoreLoad, _ bridge: StoreBridge) {
    self.load = load
    self.bridge = bridge
  }

  func makeUpdate() -> LiveUpdate { LiveUpdate() }
  func write(_ transaction: inout ModelTransaction) throws {}
  func write(to cache: any CacheDelegate) async throws {}

  func finish(_ scope: PipelineScope) { bridge.readAgain(load, scope) }
  func fail(_ error: any Error, _ scope: PipelineScope) { load.finish(error, scope) }
}
