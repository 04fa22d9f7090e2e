import ModelCore

/// Observes a list.
struct ListObservation<T: SimpleModel>: ObservationSource {
  let state: ObservedState<ObservedList<T>>

  func makeObserver() -> any Observer<[T]> { Iteration(state: state, cursor: state.makeCursor()) }

  private struct Iteration: Observer {
    let state: ObservedState<ObservedList<T>>
    var cursor: ObserverCursor

    mutating func next(isolation: isolated (any Actor)?) async throws -> [T]? {
      try await state.next(&cursor, isolation: isolation)?.contents.models
    }
  }
}

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
      guard let news = try await state.next(&cursor, isolation: isolation) else {
        seen = nil
        return nil
      }
      // What came in between is told as one change.
      let merged = seen.map { CollectionChange.changes(news.contents.changes(since: $0)) }
      seen = news.contents
      return CollectionProviderChange(
        data: news.contents.models, change: news.change ?? merged ?? .reset, context: news.context)
    }
  }
}
