import PandoConsistency
import PandoStore

/// A read of the store that runs after the queued writes.
///
/// It runs outside the pipeline, so that updates are shown meanwhile. It may therefore also see
/// later commits.
final class ReadOperation<Value: Sendable>: ManagedOperation {
  let outcome = PendingWrite()
  let context: (any Sendable)? = nil
  let holderNumber: UInt64? = nil
  let isChange = false
  private let bridge: StoreBridge
  private let read: @Sendable (ModelSnapshot) throws -> Value?
  private let answer: @Sendable (Result<Value?, any Error>) -> Void

  init(
    _ bridge: StoreBridge, _ read: @escaping @Sendable (ModelSnapshot) throws -> Value?,
    _ answer: @escaping @Sendable (Result<Value?, any Error>) -> Void
  ) {
    self.bridge = bridge
    self.read = read
    self.answer = answer
  }

  func makeUpdate() -> LiveUpdate { LiveUpdate() }
  func write(_ transaction: inout ModelTransaction) throws {}
  func write(to cache: any CacheDelegate) async throws {}

  func finish(_ scope: PipelineScope) {
    bridge.line.load { [bridge, read, answer] in
      answer(Result { try bridge.store.read(read) })
    }
  }

  func fail(_ error: any Error, _ scope: PipelineScope) { answer(.failure(error)) }
}
