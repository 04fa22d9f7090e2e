import PandoFixtures
import PandoStore

/// A write that holds the writer of a store up until it is let go.
final class HeldWriter: Sendable {
  private let mayGoOn = Event()

  /// Returns when the write is running.
  init(_ store: ModelStore) {
    let isHeld = Event()
    store.submit(ticket: 0, context: nil) { [mayGoOn] _ in
      isHeld.signal()
      mayGoOn.wait()
    } completion: { _ in
    }
    isHeld.wait()
  }

  func letGo() { mayGoOn.signal() }
}
