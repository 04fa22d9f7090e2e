public import PandoModels
public import PandoProviders
public import PandoStore

extension ModelStore {
  /// Follows the result of a query over this store.
  ///
  /// Use it for models without a core manager. Follow an entity on a server or in memory through its manager.
  ///
  /// ```swift
  /// let byName = Query(order: [.ascending(\Person.name)])
  /// for try await people in store.follow(byName) { show(people.entities) }
  /// ```
  /// A query over a type that is no `Entity` checks each changed node, because identifiers don't tell the
  /// type.
  ///
  /// - Parameters:
  ///   - query: The query; an invalid one ends iterations with a `QueryError`.
  ///   - events: Receives the errors of records that are left out because they can't be decoded.
  /// - Returns: The present result, and the result after each change.
  public func follow<M: Queryable>(
    _ query: Query<M>, events: ManagerEventHandler? = nil
  ) -> FollowedQuery<M> {
    let followed = AcceptedQuery(query)
    let line = Result<FollowedSource<LiveQuery<M>>.Line, any Error> {
      let hub = try StoreHub.hub(of: self)
      return .init(begin: { hub.begin($0) }, shown: hub.shown)
    }
    return FollowedQuery(
      query,
      FollowedSource(line: line, scope: nil, first: .local) {
        try query.validate()
        return LiveQuery(followed, events: events)
      })
  }

  /// Follows a model.
  ///
  /// ```swift
  /// for try await ada in store.follow(Person.key(12)) { show(ada) }
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the model.
  ///   - events: Receives the error if the record can't be decoded.
  /// - Returns: The present model, and the model after each change; `nil` while there is none.
  public func follow<M: Queryable>(
    _ key: Key<M>, events: ManagerEventHandler? = nil
  ) -> FollowedSequence<M?> {
    follow(Query(filter: .keys([key])), events: events).first
  }
}
