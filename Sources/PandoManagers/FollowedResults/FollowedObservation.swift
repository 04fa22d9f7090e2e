import PandoProviders

/// An observation of a followed query or graph.
struct FollowedObservation<Live: LiveView, Element: Sendable>: ObservationSource {
  /// Makes an element of a value and its write's context; `nil` if it equals the observer's last one.
  typealias Transform = (Live.Value, (any Sendable)?) throws -> Element?

  let source: FollowedSource<Live>
  /// Called at the begin of an iteration.
  let makeTransform: @Sendable () -> Transform

  func makeObserver() -> any Observer<Element> {
    Iteration(source: source, transform: makeTransform())
  }

  private struct Iteration: Observer {
    let source: FollowedSource<Live>
    /// Released at the end, with the state that it holds.
    var transform: Transform?
    /// The followed object, kept alive, and the position of the observer.
    var following: (live: Live, cursor: ObserverCursor)?

    init(source: FollowedSource<Live>, transform: @escaping Transform) {
      self.source = source
      self.transform = transform
    }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Element? {
      guard let transform else { return nil }
      do {
        var following = try self.following ?? source.join()
        defer { self.following = following }
        let observed = following.live.observed
        while let news = try await observed.next(&following.cursor, isolation: isolation) {
          if let value = news.contents, let element = try transform(value, news.context) {
            return element
          }
        }
      } catch {
        end()
        throw error
      }
      end()
      return nil
    }

    /// Releases what the iteration holds.
    private mutating func end() {
      following = nil
      transform = nil
    }
  }
}
