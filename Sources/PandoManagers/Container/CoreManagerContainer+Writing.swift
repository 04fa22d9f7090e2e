import PandoStore
import PandoSystem

extension CoreManagerContainer {
  /// Changes entities of several types, other models and lists, and queues their requests, in one commit.
  ///
  /// No reader or follower sees a part of it. After a crash the queue has all of its requests or none.
  ///
  /// - Parameters:
  ///   - context: A value that travels with the change to listeners.
  ///   - body: Makes the changes. It may run more than once, must change nothing else, and must not wait.
  /// - Returns: The result of `body`; `queued` if a server gets a request. `confirmed()` waits for all
  ///   answers, and throws the first refusal, or ``ManagerError`` `aborted` if a later write has replaced a
  ///   request by its uniquing key.
  /// - Throws: The error of `body`, and then nothing is written; ``ManagerError`` `noStore` for a type
  ///   outside the container's store, `closed`; `StoreError`, `LMDBError`.
  /// - Complexity: The cost of `body`, O(log *n*) for each queued request, and a commit.
  @discardableResult
  public func write<Result: Sendable>(
    context: (any Sendable)? = nil,
    _ body: @escaping @Sendable (inout EntityTransaction) throws -> Result
  ) async throws -> Written<Result> {
    guard !isClosed.withLock({ $0 }) else {
      throw ManagerError(.closed, "", "the container was closed")
    }
    guard let store = diskStoreConfig.modelStore else {
      preconditionFailure("a container has an open store")
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
          // A refusal says more than that a request was replaced.
          if (refusal as? ManagerError)?.code == .aborted { refusal = nil }
          refusal = refusal ?? error
        }
      }
      if let refusal { throw refusal }
      return result
    }
  }
}
