import PandoModels

/// Observes a list, or its changes.
struct ListObservation<T: SimpleModel, Element: Sendable>: ObservationSource {
  typealias State = ObservedState<LiveList<T>>

  let state: State
  /// True if an element has the change, so that a list set to equal elements is a new element.
  let tellsChanges: Bool
  let transform: @Sendable (LiveList<T>, CollectionChange, (any Sendable)?) -> Element

  func makeObserver() -> any Observer<Element> {
    Iteration(
      state: state, tellsChanges: tellsChanges, cursor: state.makeCursor(), transform: transform)
  }

  private struct Iteration: Observer {
    let state: State
    let tellsChanges: Bool
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
        // Without changes, a list that was set as a whole may show the same as before.
        let isRepeated =
          !tellsChanges && change == .reset
          && seen?.isEqual(to: news.contents.models) ?? false
        seen = news.contents
        if isRepeated { continue }
        return transform(news.contents, change, news.context)
      }
      seen = nil
      return nil
    }
  }
}
