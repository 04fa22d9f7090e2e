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
  /// A query over a type without a `nodeNamespace` checks each changed node, because identifiers don't tell
  /// the type.
  ///
  /// - Parameters:
  ///   - query: The query; an invalid one ends iterations with a `QueryError`.
  ///   - events: Receives the errors of records that are left out because they can't be decoded.
  /// - Returns: The present result, and the result after each change.
  public func follow<M: Queryable>(
    _ query: Query<M>, events: ManagerEventHandler? = nil
  ) -> FollowedQuery<M> {
    let followed = AcceptedQuery(query)
    let hub = Result { try StoreHub.hub(of: self) }
    return FollowedQuery(followed, events: events) { FollowedSource(hub, make: $0) }
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

  /// Follows the answer to a question about the entities of a query.
  ///
  /// ```swift
  /// let open = Query(filter: \Issue.status == .open)
  /// for try await count in store.follow(.count, of: open) { badge.show(count) }
  /// ```
  /// Each element is what ``ModelStore/answer(_:to:)`` returns at that commit. Pando updates the answer by the entities
  /// that a commit changes. If the query has a limit, an offset, `uniqueBy`, identifiers, `.held(by:)` or
  /// `.synchronizationState(_:)`, Pando answers the question again instead. So it does for a `.has(_:by:)` whose own query
  /// has a limit, an offset or `uniqueBy`.
  ///
  /// - Parameters:
  ///   - question: The question. An answer that can't be made, such as a sum that overflows, ends iterations with a
  ///     `QueryError`. Begin another iteration to continue.
  ///   - query: The query for its entities; an invalid one ends iterations with a `QueryError`.
  /// - Returns: The present answer, and the answer after each change that differs.
  /// - Complexity: The first answer reads the entities of the query, and keeps their identifiers and the asked values
  ///   while it is followed. A commit costs O(log *n*) for each touched entity, an element O(*g*) for *g* groups.
  public func follow<M: Queryable, Answer: Equatable>(
    _ question: Question<M, Answer>, of query: Query<M>
  ) -> FollowedSequence<Answer> { follow(question, of: query, isSame: ==) }

  /// Follows the answers to several questions about the entities of a query.
  ///
  /// ```swift
  /// for try await (count, hours) in store.follow(.count, .sum(\Issue.hours), of: open) { … }
  /// ```
  /// - Parameters:
  ///   - questions: The questions, as in the form for a single one.
  ///   - query: The query for the entities; an invalid one ends iterations with a `QueryError`.
  /// - Returns: The present answers, and all of them after each change by which one differs.
  /// - Complexity: As the form for a single question.
  @_disfavoredOverload
  public func follow<M: Queryable, each Answer: Equatable & Sendable>(
    _ questions: repeat Question<M, each Answer>, of query: Query<M>
  ) -> FollowedSequence<(repeat each Answer)> {
    follow(Question.combined(repeat each questions), of: query) { old, new in
      for (old, new) in repeat (each old, each new) {
        guard old == new else { return false }
      }
      return true
    }
  }

  private func follow<M: Queryable, Answer>(
    _ question: Question<M, Answer>, of query: Query<M>,
    isSame: @escaping @Sendable (Answer, Answer) -> Bool
  ) -> FollowedSequence<Answer> {
    let source = FollowedSource(Result { try StoreHub.hub(of: self) }) {
      try query.validate()
      return LiveAnswer(question, of: query)
    }
    return source.answers(to: question, isSame: isSame)
  }
}

extension FollowedSource {
  /// The answers that differ from the last one.
  func answers<E, Answer>(
    to question: Question<E, Answer>, isSame: @escaping @Sendable (Answer, Answer) -> Bool
  ) -> FollowedSequence<Answer> where Live == LiveAnswer<E, Answer> {
    FollowedSequence(
      FollowedObservation(source: self) {
        let access = self.access
        var seen: Answer?
        return { value, _ in
          let answer =
            self.allows(access) ? try value.answer(to: question) : try question.answer([])
          if let seen, isSame(seen, answer) { return nil }
          seen = answer
          return answer
        }
      })
  }
}
