import DataProviders
import ModelCore

/// Observes a followed query.
struct QueryObservation<E: Entity, Element: Sendable>: ObservationSource {
  /// A result that an observer has not seen.
  struct News: Sendable {
    let result: QueryResult<E>
    /// What the observer has got before; `nil` at first.
    let previous: QueryResult<E>?
    /// What the writer of the last change passed along.
    let context: (any Sendable)?
  }

  let source: FollowedSource<E>
  /// Makes an element; `nil` if it would be what the observer has got before.
  let transform: @Sendable (News) -> Element?

  func makeObserver() -> any Observer<Element> {
    Iteration(source: source, transform: transform)
  }

  private struct Iteration: Observer {
    let source: FollowedSource<E>
    let transform: @Sendable (News) -> Element?
    private var following: (live: LiveQuery<E>, cursor: ObserverCursor)?
    private var access: UserAccess?
    private var seen: QueryResult<E>?
    private var isOver = false

    init(source: FollowedSource<E>, transform: @escaping @Sendable (News) -> Element?) {
      self.source = source
      self.transform = transform
    }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Element? {
      if isOver { return nil }
      do {
        while let element = try await step(isolation: isolation) {
          if let element = element { return element }
        }
        end()
        return nil
      } catch {
        end()
        throw error
      }
    }

    /// Waits for one result.
    ///
    /// - Returns: The outer `nil` at the end, the inner one if there is nothing to tell.
    private mutating func step(isolation: isolated (any Actor)?) async throws -> Element?? {
      var following: (live: LiveQuery<E>, cursor: ObserverCursor)
      if let present = self.following {
        following = present
      } else {
        access = source.access
        following = try source.join()
      }
      defer { self.following = following }
      guard
        let news = try await following.live.observed.next(
          &following.cursor, isolation: isolation)
      else { return .none }
      guard let window = news.contents else { return .some(nil) }
      let result = source.result(of: window, for: access)
      if let seen, seen == result { return .some(nil) }
      defer { seen = result }
      return .some(
        transform(News(result: result, previous: seen, context: seen == nil ? nil : news.context)))
    }

    /// Lets go of everything.
    private mutating func end() {
      following = nil
      seen = nil
      isOver = true
    }
  }
}
