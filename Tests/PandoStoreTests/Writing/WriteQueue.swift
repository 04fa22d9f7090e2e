import PandoFixtures
import PandoModels
import PandoSystem

@testable import PandoStore

/// Holds the writer of a store up until all writes of a test have queued, so that they share a flush.
final class WriteQueue: Sendable {
  private let writer: Writer
  private let mayGoOn = Event()
  private let outcomes = Locked<[Result<ChangeSet?, any Error>?]>([])
  private let last = Event()
  private let isHeld = Event()

  init(_ store: ModelStore) throws {
    guard let writer = store.writer else { throw StoreError(.readOnly, store.path, "") }
    self.writer = writer
    try writer.submit(
      WriteJob(
        context: nil,
        body: { [self] _ in
          isHeld.signal()
          mayGoOn.wait()
        }, completion: { _ in }))
    isHeld.wait()
  }

  /// Queues a write.
  func submit(
    context: (any Sendable)? = nil,
    _ body: @escaping @Sendable (inout ModelTransaction) throws -> Void
  ) throws {
    let index = outcomes.withLock { outcomes in
      outcomes.append(nil)
      return outcomes.count - 1
    }
    try writer.submit(
      WriteJob(context: context, body: body) { [self] result in
        let isLast = outcomes.withLock { outcomes in
          outcomes[index] = result
          return outcomes.allSatisfy { $0 != nil }
        }
        if isLast { last.signal() }
      })
  }

  func letGo() { mayGoOn.signal() }

  /// Lets the writer go on, and returns how each write ended.
  func run() -> [Result<ChangeSet?, any Error>] {
    letGo()
    last.wait()
    return outcomes.withLock { $0.compactMap(\.self) }
  }
}
