import ModelCore

/// Observes one model, or its changes.
struct ModelObservation<T: SimpleModel, Element: Sendable>: ObservationSource {
  let state: ObservedState<T?>
  let transform: @Sendable (ObservedState<T?>.News) -> Element

  func makeObserver() -> any Observer<Element> {
    Iteration(state: state, cursor: state.makeCursor(), transform: transform)
  }

  private struct Iteration: Observer {
    let state: ObservedState<T?>
    var cursor: ObserverCursor
    let transform: @Sendable (ObservedState<T?>.News) -> Element

    mutating func next(isolation: isolated (any Actor)?) async throws -> Element? {
      try await state.next(&cursor, isolation: isolation).map(transform)
    }
  }
}
