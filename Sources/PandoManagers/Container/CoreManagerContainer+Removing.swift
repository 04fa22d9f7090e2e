import PandoStore
import PandoSystem

extension CoreManagerContainer {
  /// Removes everything that is here: entities, lists, requests that wait or were refused, answers that are
  /// kept, and which identifiers a server has given; for a service whose user logs out.
  ///
  /// What is on disk goes in one commit: all nodes and collections of the store, also those that the
  /// container has no type for, and the requests to all servers. Indexes, deletion rules and properties
  /// of one's own stay. Nothing is sent after it has returned; a request that is on its way is cancelled,
  /// which the server may notice too late. An answer that comes late is not stored. Whoever waits for a
  /// request gets `dropped`.
  ///
  /// Bytes of what was removed stay in the file until their pages are used again; `ModelStore.copy`
  /// makes one without them. For users who must not share a file give each a container of its own, with
  /// `.path`.
  ///
  /// - Throws: ``ManagerError`` `closed`; `StoreError` or `LMDBError` when the store can't be written, and
  ///   then nothing is removed.
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
