import PandoFixtures
import PandoModels
import PandoSystem

/// Remembers what a completion was called with.
final class Completions<T: SimpleModel>: Sendable {
  struct Call: Sendable {
    let model: T?
    let error: (any Error)?
    /// The data that the provider showed at that moment.
    let shown: T?
  }

  private let log = Locked<[Call]>([])
  private let event = Event()

  /// All calls so far.
  var calls: [Call] { log.withLock { $0 } }

  func add(_ model: T?, _ error: (any Error)?, shown: T?) {
    log.withLock { $0.append(Call(model: model, error: error, shown: shown)) }
    event.signal()
  }

  /// Waits for the first call.
  func first() async -> Call {
    await event.happened()
    return calls[0]
  }
}
