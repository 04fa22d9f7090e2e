public import Observation
import PandoSystem

/// The newest value of a followed query, model, answer or list, as a value that Observation tracks.
///
/// ```swift
/// let open = Followed(store.follow(Query(filter: \Order.status == .placed)))
/// withObservationTracking {
///   print(open.value?.count ?? 0, "open orders")
/// } onChange: {
///   print("the orders have changed")
/// }
/// ```
///
/// It follows as long as it exists. Its value is that of `for try await` over the same sequence: a
/// slow reader sees the newest one.
///
/// - Note: Any thread. `onChange` is called on a thread of Swift's pool, before the value changes.
public final class Followed<Value: Sendable>: Observable, Sendable {
  private struct State {
    var value: Value?
    var error: (any Error)?
    var task: Task<Void, Never>?
  }

  private let state = Locked(State())
  private let registrar = ObservationRegistrar()

  /// Follows a sequence.
  ///
  /// - Parameter sequence: The result of `follow` of a store or a manager, or another sequence of states.
  public init(_ sequence: some AsyncSequence<Value, any Error> & Sendable) {
    let task = Task { [weak self] in
      do {
        for try await value in sequence {
          guard let self else { return }
          change(\.value) { $0.value = value }
        }
      } catch {
        self?.change(\.error) { $0.error = error }
      }
    }
    state.withLock { $0.task = task }
  }

  deinit { state.withLock { $0.task }?.cancel() }

  /// The newest value; `nil` until the first one is read.
  public var value: Value? {
    registrar.access(self, keyPath: \.value)
    return state.withLock { $0.value }
  }

  /// The error that has ended the sequence; `nil` while it continues, and if it ended without an error, as that
  /// of a provider does that is released.
  public var error: (any Error)? {
    registrar.access(self, keyPath: \.error)
    return state.withLock { $0.error }
  }

  private func change<Member>(
    _ keyPath: KeyPath<Followed, Member>, _ body: (inout State) -> Void
  ) { registrar.withMutation(of: self, keyPath: keyPath) { state.withLock(body) } }
}
