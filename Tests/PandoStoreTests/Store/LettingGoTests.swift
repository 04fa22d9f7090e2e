import Foundation
import PandoFixtures
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

/// Where the last reference to a store is let go, and what becomes of what it held.
@Suite(.overBothBackings) struct LettingGoTests {
  /// Holds a store until it is told to let go.
  private final class Holder: Sendable {
    private let store: Locked<ModelStore?>

    init(_ store: ModelStore) { self.store = Locked(store) }

    var writer: Writer? { store.withLock { $0?.writer } }

    func letGo() {
      let last = store.withLock { exchange(&$0, with: nil) }
      withExtendedLifetime(last) {}
    }
  }

  /// Says when it ends.
  private final class Marker: Sendable {
    private let end: Event

    init(_ end: Event) { self.end = end }

    deinit { end.signal() }
  }

  @Test func `the writer's own thread may release the last reference to a store`() throws {
    // Was: the store waited for the thread that it ended on, and the process stopped.
    let holder = Holder(try ModelStore.forTest())
    let isDone = Event()
    let hasEnded = Event()
    let marker = Locked<Marker?>(Marker(hasEnded))
    let writer = try #require(holder.writer)
    writer.setHandler { [marker = marker.value] _ in withExtendedLifetime(marker) {} }
    marker.withLock { $0 = nil }
    try writer.submit(
      WriteJob(context: nil, body: { try $0.set(Person(id: 1, name: "Ada")) }) { _ in
        holder.letGo()
        isDone.signal()
      })
    isDone.wait()
    hasEnded.wait()  // the handler goes when the writer has stopped
  }

  @Test func `a closed store releases its commit handler`() throws {
    // Was: a handler that holds its store kept both for ever.
    let hasEnded = Event()
    func use() throws {
      let store = try ModelStore.forTest()
      let marker = Marker(hasEnded)
      store.setCommitHandler { _ in withExtendedLifetime((store, marker)) {} }
      try store.write { try $0.set(Person(id: 1, name: "Ada")) }
      store.close()
    }
    try use()
    hasEnded.wait()
  }
}
