/// The request to send before or while a query is followed.
enum FirstAnswer<E: Queryable>: Sendable {
  /// Sends the request; returns the answer if it is not stored.
  typealias Ask = @Sendable () async throws -> QueryResult<E>?

  /// No request: the local result is shown at once.
  case local
  /// A request that is awaited before the local result is shown.
  case asked(Ask)
  /// The local result is shown at once; the answer to a request changes it later.
  case then(Ask)
}
