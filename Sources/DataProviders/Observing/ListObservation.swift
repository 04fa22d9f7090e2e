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
