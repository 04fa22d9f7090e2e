import PandoModels

/// Observes a list, or its changes.
struct ListObservation<T: SimpleModel, Element: Sendable>: ObservationSource {
  typealias State = ObservedState<LiveList<T>>

  let state: State
  let transform: @Sendable (LiveList<T>, CollectionChange, (any Sendable)?) -> Element

  func makeObserver() -> any Observer<Element> {
    Iteration(state: state, cursor: state.makeCursor(), transform: transform)
  }

  private struct Iteration: Observer {
    let state: State
    var cursor: ObserverCursor
    let transform: @Sendable (LiveList<T>, CollectionChange, (any Sendable)?) -> Element
    /// The list that the observer received last.
    var seen: LiveList<T>?

    mutating func next(isolation: isolated (any Actor)?) async throws -> Element? {
      while let news = try await state.next(&cursor, isolation: isolation) {
        // A slow observer receives several commits as one change.
        var change = CollectionChange.reset
        if !news.isReset, let seen {
          let changes = news.contents.changes(since: seen, updated: news.updated)
          if changes.isEmpty { continue }
          change = .changes(changes)
        }
        seen = news.contents
        return transform(news.contents, change, news.context)
      }
      seen = nil
      return nil
    }
  }
}
