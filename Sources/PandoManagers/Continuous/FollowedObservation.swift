import PandoProviders

/// Observes something followed.
struct FollowedObservation<Value: Sendable, Element: Sendable>: ObservationSource {
  /// Makes an element of a value and of what its writer passed along; `nil` if it would be what the
  /// observer has got before.
  typealias Transform = (Value, (any Sendable)?) -> Element?

  let origin: any FollowedOrigin<Value>
  /// Called when an iteration begins.
  let makeTransform: @Sendable () -> Transform

  func makeObserver() -> any Observer<Element> {
    Iteration(origin: origin, transform: makeTransform())
  }

  private struct Iteration: Observer {
    let origin: any FollowedOrigin<Value>
    /// Lets go of what it remembers at the end.
    var transform: Transform?
    var following: Following<Value>?

    init(origin: any FollowedOrigin<Value>, transform: @escaping Transform) {
      self.origin = origin
      self.transform = transform
    }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Element? {
      guard let transform else { return nil }
      do {
        var following = try self.following ?? origin.join()
        defer { self.following = following }
        while let news = try await following.observed.next(&following.cursor, isolation: isolation)
        {
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
