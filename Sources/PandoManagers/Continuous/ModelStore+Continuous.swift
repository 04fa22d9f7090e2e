public import PandoStore

extension ModelStore {
  /// Follows the result of a query over what is stored here, whoever changes it.
  ///
  /// It is for models without a core manager; an entity that is on a server or in memory is followed
  /// through its manager.
  ///
  /// ```swift
  /// let byName = Query(order: [.ascending(\Person.name)])
  /// for try await people in store.continuousSearch(withQuery: byName).values { show(people.entities) }
  /// ```
  /// A query over a type that is no `Entity` is held against every node that is changed, as the
  /// identifier does not tell the type.
  ///
  /// - Parameters:
  ///   - query: The query; one that makes no sense ends iterations by a `QueryError`.
  ///   - events: Told of records that are left out because they can't be decoded.
  /// - Returns: The result, now and after each change.
  public func continuousSearch<M: Queryable>(
    withQuery query: Query<M>, events: ManagerEventHandler? = nil
  ) -> ContinuousQuery<M> {
    let followed = FollowedQuery(query)
    let line = Result<FollowedSource<LiveQuery<M>>.Line, any Error> {
      let hub = try StoreHub.hub(of: self)
      return .init(begin: { hub.begin($0) }, shown: hub.shown)
    }
    return ContinuousQuery(
      query,
      FollowedSource(line: line, scope: nil, first: .local) {
        try query.validate()
        return LiveQuery(followed, events: events)
      })
  }
}
