import PandoModels

/// Observes one model, or its changes.
struct ModelObservation<T: SimpleModel, Element: Sendable>: ObservationSource {
  /// The state of one model, type-erased as in the provider.
  typealias State = ObservedState<(any SimpleModel)?>

  let state: State
  let transform: @Sendable (T?, (any Sendable)?) -> Element

  func makeObserver() -> any Observer<Element> {
    Iteration(state: state, cursor: state.makeCursor(), transform: transform)
  }

  private struct Iteration: Observer {
    let state: State
    var cursor: ObserverCursor
    let transform: @Sendable (T?, (any Sendable)?) -> Element
    /// The model that the observer received last; the outer `nil` if it received none.
    var seen: (any SimpleModel)??

    mutating func next(isolation: isolated (any Actor)?) async throws -> Element? {
      while let news = try await state.next(&cursor, isolation: isolation) {
        if let seen, Self.isSame(seen, news.contents) { continue }
        seen = .some(news.contents)
        return transform(news.contents as? T, news.context)
      }
      seen = nil
      return nil
    }

    private static func isSame(_ left: (any SimpleModel)?, _ right: (any SimpleModel)?) -> Bool {
      guard let left, let right else { return left == nil && right == nil }
      return left.isEqual(to: right)
    }
  }
}
