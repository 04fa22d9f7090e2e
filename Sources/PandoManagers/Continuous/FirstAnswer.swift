/// What comes before a query is followed.
enum FirstAnswer<E: Queryable>: Sendable {
  /// What is asked; returns what to show of an answer that is stored nowhere.
  typealias Ask = @Sendable () async throws -> QueryResult<E>?

  /// Nothing: what is here is shown at once.
  case local
  /// Something that is waited for; then what is here is shown.
  case asked(Ask)
  /// What is here is shown at once, and something is asked whose answer changes it.
  case then(Ask)
}
