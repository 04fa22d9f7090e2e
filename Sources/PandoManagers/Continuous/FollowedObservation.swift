import PandoProviders

/// Observes something followed.
struct FollowedObservation<Live: LiveResult, Element: Sendable>: ObservationSource {
  /// Makes an element of a value and of what its writer passed along; `nil` if it would be what the
  /// observer has got before.
  typealias Transform = (Live.Value, (any Sendable)?) -> Element?

  let source: FollowedSource<Live>
  /// Called when an iteration begins.
  let makeTransform: @Sendable () -> Transform

  func makeObserver() -> any Observer<Element> {
    Iteration(source: source, transform: makeTransform())
  }

  private struct Iteration: Observer {
    let source: FollowedSource<Live>
    /// Lets go of what it remembers at the end.
    var transform: Transform?
    /// What it keeps alive, and how far it has got.
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
          if let value = news.contents, let element = transform(value, news.context) {
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

    /// Leaves nothing behind.
    private mutating func end() {
      following = nil
      transform = nil
    }
  }
}
