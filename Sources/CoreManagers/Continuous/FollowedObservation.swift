import DataProviders
import Locking

/// Where iterations over something followed begin.
protocol FollowedOrigin<Value>: Sendable {
  associatedtype Value: Sendable

  /// Joins those who follow it, or begins to follow it.
  ///
  /// - Throws: Why it can't be followed at all.
  func join() throws -> Following<Value>
}

/// One who follows.
struct Following<Value: Sendable> {
  /// Kept alive as long as somebody follows.
  let live: any AnyObject & Sendable
  let observed: ObservedState<Value?>
  var cursor: ObserverCursor
}

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

/// What iterations that run at the same time share; it is not kept alive.
final class SharedLive<Live: AnyObject & Sendable>: Sendable {
  private struct State: Sendable {
    weak var live: Live?
  }

  private let state = Locked(State())

  /// The one that iterations share, made now if there is none.
  func live(orMake make: () -> Live) -> (live: Live, isNew: Bool) {
    state.withLock { state in
      if let live = state.live { return (live, false) }
      let live = make()
      state.live = live
      return (live, true)
    }
  }

  /// Lets the next iteration have another one.
  ///
  /// - Parameter live: The one that can't be used any more.
  func forget(_ live: Live) {
    let present = state.withLock { state in
      defer { if state.live === live { state.live = nil } }
      // A strong reference leaves the lock, and ends outside.
      return state.live
    }
    withExtendedLifetime(present) {}
  }
}
