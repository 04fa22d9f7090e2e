import PandoStore
import PandoSystem

extension CoreManagerContainer {
  /// Removes all local data, for example when a user logs out.
  ///
  /// It removes entities, lists, waiting and refused requests, the times of answers, and the identifiers that
  /// servers have assigned. On disk one commit removes all nodes and collections of the store, also those of
  /// types that the container lacks, and the requests to all servers. Indexes, deletion rules and properties
  /// of the program stay.
  ///
  /// Pando sends no request after the call. It cancels requests in flight, which the server may have received,
  /// and stores no answer to them. Callers that wait for a request get `dropped`.
  ///
  /// Removed bytes stay in the file until their pages are used again; `ModelStore.copy` makes a file without
  /// them. If users must not share a file, give each a container of its own, with `.path`.
  ///
  /// - Throws: ``ManagerError`` `closed`; `StoreError` or `LMDBError` if the store can't be written, and then
  ///   nothing is removed.
  /// - Complexity: O(*n* log *n*) for *n* nodes, requests and entities in memory, and a commit.
  public func removeAllLocalData() async throws {
    guard !isClosed.withLock({ $0 }) else {
      throw ManagerError(.closed, "", "the container was closed")
    }
    for store in [diskStoreConfig.modelStore, memoryStore].compactMap({ $0 }) {
      try await store.write { transaction in
        try transaction.removeAll()
        try transaction.forgetRequests()
        try transaction.forgetArrangement()
        try transaction.forgetSynchronization()
        try transaction.forgetOrder()
        try transaction.forgetAnswerTimes()
      }
      for server in ServerLinks.links(of: store) { server.forgetAll() }
    }
    if let server, server.store == nil { server.forgetAll() }
    for manager in allManagers { try await manager.removeFromMemory() }
  }
}
