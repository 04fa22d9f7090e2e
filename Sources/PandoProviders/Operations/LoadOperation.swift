import PandoConsistency
import PandoSystem
import PandoModels
import PandoStore

/// A load that is read again in the order of writes.
final class LoadOperation: ManagedOperation {
  private let load: any StoreLoad
  private let error = Locked<(any Error)?>(nil)
  let outcome = PendingWrite()
  let context: (any Sendable)? = nil
  let holder: (any LiveHolder)? = nil
  let isChange = false

  init(_ load: any StoreLoad) { self.load = load }

  func makeUpdate() -> LiveUpdate { LiveUpdate() }
  func write(_ transaction: inout ModelTransaction) throws {}
  func write(to cache: any CacheDelegate) async throws {}

  func prepare(in snapshot: ModelSnapshot) throws -> [LiveNode] {
    do {
      try load.read(snapshot)
      error.withLock { $0 = nil }
    } catch let thrown {
      error.withLock { $0 = thrown }
    }
    return load.nodes
  }

  func finish(_ scope: PipelineScope) { load.finish(error.withLock { $0 }, scope) }

  func fail(_ error: any Error, _ scope: PipelineScope) { load.finish(error, scope) }
}
