extension CoreManager {
  /// Asks the server what has changed since the last time, and stores it.
  ///
  /// The type says how: `request(for: .changes(since:))` and a payload with `changes(removed:cursor:)`. The
  /// first time, all is asked for; then what a server had sent before and does not name any more is removed
  /// here, after the last page. So it is when the server does not know the cursor any more.
  ///
  /// ```swift
  /// let done = try await container[Book.self].synchronize()
  /// log("\(done.kind): \(done.storedCount) stored, \(done.removedCount) removed")
  /// ```
  /// Each page is stored with its cursor in one commit. What was cut off, by whatever, goes on behind the
  /// last stored page. Pages are as old as their requests: what is written here later is newer, and stays.
  /// Of such entities the server is asked anew by the next synchronization. Requests that change the
  /// entities of the type are sent first.
  ///
  /// Calls at the same time share one run; a call that is cancelled does not end it, closing the container
  /// does.
  ///
  /// - Parameter accessValidator: Says whether the user may see what the server sends; of calls that share a
  ///   run, that of the first counts for what is stored.
  /// - Returns: What was done. Elements that were left out and removals that the store refuses are told as
  ///   ``ManagerEvent``, too.
  /// - Throws: ``ManagerError`` `noStore`, `userAccessInvalid`, `aborted` if all local data was removed
  ///   meanwhile, `closed` if the container was closed; of a `RemoteEntity` `APIError`, `noRequest` if the API
  ///   has nothing of the kind; `StoreError`.
  /// - Complexity: One request and one commit for each page; the end of a full one looks at all entities of
  ///   the type.
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
