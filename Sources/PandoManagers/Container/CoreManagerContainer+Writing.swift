import PandoStore
import PandoSystem

extension CoreManagerContainer {
  /// Changes entities of several types, other models and lists in one commit, and queues the requests
  /// that tell the server of them in the same.
  ///
  /// Nobody sees a part of it: neither those who read or follow, nor, after a crash, the queue.
  ///
  /// - Parameters:
  ///   - context: Travels to everyone who is told.
  ///   - body: Makes the changes. It may run more than once, so it must change nothing else; it waits
  ///     for nothing.
  /// - Returns: What `body` returned; `queued` if the server is told. `confirmed()` waits for all of its
  ///   answers, and throws the first refusal.
  /// - Throws: What `body` throws, and then nothing is written; ``ManagerError`` `noStore` without a store
  ///   on disk, `closed`; `StoreError`, `LMDBError`.
  /// - Complexity: What `body` costs, O(log *n*) for each request that is queued, and a commit.
  @discardableResult
  public func write<Result: Sendable>(
    context: (any Sendable)? = nil,
    _ body: @escaping @Sendable (inout EntityTransaction) throws -> Result
  ) async throws -> Written<Result> {
    guard !isClosed.withLock({ $0 }) else {
      throw ManagerError(.closed, "", "the container was closed")
    }
    guard let store = diskStoreConfig.modelStore else {
      throw ManagerError(.noStore, "", "the container has no store on disk")
    }
    let (result, requests) = try await store.write(context: context) { transaction in
      var entities = EntityTransaction(transaction, self)
      let result = try body(&entities)
      return (result, try entities.finish())
    }
    for request in requests { request.committed() }
    guard !requests.isEmpty else { return Written(result, .stored) }
    return Written(result, .queued) {
      var refusal: (any Error)?
      for request in requests {
        do {
          try await request.confirm()
        } catch {
          refusal = refusal ?? error
        }
      }
      if let refusal { throw refusal }
      return result
    }
  }
}
