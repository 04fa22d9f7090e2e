import PandoManagers
import PandoModels
public import PandoStore

extension ModelSnapshot {
  /// Returns the requests that wait for a server, in their order, then those that were refused.
  ///
  /// - Returns: The requests of all clients.
  /// - Throws: `ModelError` or ``StoreError`` when a row can't be read.
  /// - Complexity: O(*n*) for *n* requests.
  public func queuedRequests() throws -> [QueuedRequest] {
    var found: [QueuedRequest] = []
    for prefix in [QueueNames.waiting, QueueNames.failed] {
      try forEachProperty(withPrefix: prefix) { _, bytes in
        found.append(try QueueTable.decode(bytes))
        return true
      }
    }
    return found
  }

  /// Returns whether a request that changes a node, or contains its local identifier, waits or was refused.
  ///
  /// - Parameter modelIdentifier: The identifier of the node.
  /// - Returns: Whether there is such a request; one whose write was undone does not count.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func hasQueuedRequests(for modelIdentifier: String) throws -> Bool {
    try property(QueueNames.mark(modelIdentifier)) != nil
  }
}

extension ModelTransaction {
  /// Drops a request that waits for a server or was refused by one.
  ///
  /// - Parameter number: The `id` of the request.
  /// - Returns: The request; `nil` if there is none with that number.
  /// - Throws: `LMDBError` when the disk refuses.
  @discardableResult
  public mutating func dropQueuedRequest(_ number: UInt64) throws -> QueuedRequest? {
    try QueueTable.drop(number, in: QueueRows(self))
  }

  /// Puts a request that a server refused at the end of the queue again, under a new number.
  ///
  /// - Parameter number: The `id` of the request.
  /// - Returns: The request as it is queued now; `nil` if there is no refused one with that number.
  /// - Throws: `LMDBError` when the disk refuses.
  @discardableResult
  public mutating func retryQueuedRequest(_ number: UInt64) throws -> QueuedRequest? {
    try QueueTable.retry(number, in: QueueRows(self))
  }
}
