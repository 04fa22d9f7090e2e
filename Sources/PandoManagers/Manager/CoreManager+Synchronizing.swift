extension CoreManager {
  /// Requests the changes since the last synchronization, and stores them.
  ///
  /// The type declares how: `request(for: .changes(since:))`, and a payload with
  /// `changes(removed:cursor:)`. The first call requests everything. After the last page it removes
  /// entities that a server had sent before and that no page contained. If the server refuses the cursor,
  /// the call requests everything again.
  ///
  /// ```swift
  /// let done = try await container[Book.self].synchronize()
  /// log("\(done.kind): \(done.storedCount) stored, \(done.removedCount) removed")
  /// ```
  /// One commit stores a page and its cursor, so an interrupted synchronization continues after the last
  /// stored page. A page has the sequence number of its request: later local writes are newer and stay.
  /// The next call requests such entities again. Requests that change entities of the type are sent
  /// first.
  ///
  /// Calls at the same time share one run. A cancelled call does not end the run; closing the container
  /// does.
  ///
  /// - Parameter accessValidator: Says whether the user may see the entities of the server. The validator of
  ///   the call that began the run decides what is stored.
  /// - Returns: The result of the run. ``ManagerEvent`` also reports left-out elements and removals that the
  ///   store refused.
  /// - Throws: ``ManagerError`` `noStore`, `userAccessInvalid`, `aborted` if all local data was removed
  ///   meanwhile, `closed` if the container was closed; for a `RemoteEntity` `APIError`, `noRequest` if
  ///   the API has no request for changes; `StoreError`.
  /// - Complexity: One request and one commit for each page. The end of a full synchronization reads all
  ///   entities.
  @discardableResult
  public func synchronize(
    accessValidator: (any UserAccessValidating)? = nil
  ) async throws -> SynchronizationResult<E> {
    let access = try AccessCheck(accessValidator, E.self)
    try access.requireServer()
    guard let changes else { throw Self.noStore("remote") }
    guard stack.keepsOrder else { throw Self.noStore("ordered local") }
    let done = try await changes.value { [self] in
      let run = SynchronizationRun(self, changes, access)
      try await run.run()
      return run.done
    }
    try access.confirm()
    return done
  }
}
