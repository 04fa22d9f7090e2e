import ModelCore

/// Observes the changes of a list.
struct ListChangeObservation<T: SimpleModel>: ObservationSource {
  let state: ObservedState<ObservedList<T>>

  func makeObserver() -> any Observer<CollectionProviderChange<T>> {
    Iteration(state: state, cursor: state.makeCursor())
  }

  private struct Iteration: Observer {
    let state: ObservedState<ObservedList<T>>
    var cursor: ObserverCursor
    /// The list that the observer has got last.
    var seen: ObservedList<T>?

    mutating func next(
      isolation: isolated (any Actor)?
    ) async throws -> CollectionProviderChange<T>? {
      while let news = try await state.next(&cursor, isolation: isolation) {
        // Commits that the observer was too slow for are told as one change.
        var change = CollectionChange.reset
        if !news.isReset, let seen {
          let changes = news.contents.changes(since: seen, updated: news.updated)
          if changes.isEmpty { continue }
          change = .changes(changes)
        }
        seen = news.contents
        return CollectionProviderChange(
          data: news.contents.models, change: change, context: news.context)
      }
      seen = nil
      return nil
    }
  }
}
