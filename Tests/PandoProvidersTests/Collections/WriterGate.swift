import PandoFixtures
import PandoStore
import Testing

/// Holds a store's writer until it is opened, so that writes queue in a known order.
final class WriterGate: Sendable {
  private let gate = Event()
  private let store: ModelStore

  init(_ store: ModelStore) {
    self.store = store
    let held = Event()
    submit("gate") { [gate] _ in
      held.signal()
      gate.wait()
    }
    held.wait()
  }

  /// Queues a write that no manager knows of, and returns at once.
  func queue(_ body: @escaping @Sendable (inout ModelTransaction) throws -> Void) {
    submit("foreign", body)
  }

  private func submit(
    _ ticket: String, _ body: @escaping @Sendable (inout ModelTransaction) throws -> Void
  ) {
    #expect(throws: Never.self) { try store.submit(ticket: ticket, context: nil, body) }
  }

  func open() { gate.signal() }
}
