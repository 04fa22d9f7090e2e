import PandoFixtures
import PandoManagers
import PandoModels
import PandoStore
import Testing

@testable import PandoManagersFixtures

/// A followed query shows what matches, and nothing else.
@Suite struct FollowedQueryTests {
  private let jazz = Query(filter: \Track.genre == "jazz")

  private func withManager(
    _ body: (CoreManager<Track>, ModelStore) async throws -> Void
  ) async throws {
    try await withModelStore { store in
      let manager = CoreManager<Track>(stores: [DiskStore(modelStore: store)])
      try await body(manager, store)
    }
  }

  /// The result of a followed query once it contains a last entity.
  private func shown(
    _ manager: CoreManager<Track>,
    _ values: inout FollowedSequence<QueryResult<Track>>.AsyncIterator
  ) async throws -> [Track] {
    let last = Track(10_000, genre: "jazz")
    try await manager.set(last)
    while let result = try await values.next() {
      if result.entities.contains(last) { return result.entities.filter { $0 != last } }
    }
    return []
  }

  /// Carries out two writes that share a flush.
  private func inOneFlush(
    _ store: ModelStore,
    _ first: @escaping @Sendable (inout ModelTransaction) throws -> Void,
    _ second: @escaping @Sendable (inout ModelTransaction) throws -> Void
  ) async throws {
    let isHeld = Event()
    let mayGoOn = Event()
    try store.submit(ticket: 0, context: nil) { _ in
      isHeld.signal()
      mayGoOn.wait()
    }
    await blocking { isHeld.wait() }
    try store.submit(ticket: 0, context: nil, first)
    try store.submit(ticket: 0, context: nil, second)
    mayGoOn.signal()
    try await store.write { _ in }
  }

  /// Entity 1 leaves the query and comes back, in two writes of one flush.
  private func leaveAndReturn(_ store: ModelStore) async throws {
    try await inOneFlush(
      store, { try $0.set(Track(1, genre: "rock")) }, { try $0.set(Track(1, genre: "jazz")) })
  }

  @Test func `an entity that left and came back in one flush leaves when it no longer matches`()
    async throws
  {
    try await withManager { manager, store in
      try await manager.set(Track(1, genre: "jazz"))
      var values = manager.follow(jazz).makeAsyncIterator()
      try await expectNext(&values, [Track(1, genre: "jazz")])
      try await leaveAndReturn(store)
      try await manager.set(Track(1, genre: "rock"))
      let shown = try await shown(manager, &values)
      #expect(shown == [])
    }
  }

  @Test func `an entity that left and came back in one flush goes when it is deleted`()
    async throws
  {
    try await withManager { manager, store in
      try await manager.set(Track(1, genre: "jazz"))
      var values = manager.follow(jazz).makeAsyncIterator()
      try await expectNext(&values, [Track(1, genre: "jazz")])
      try await leaveAndReturn(store)
      try await manager.remove(atID: .remote(1))
      let shown = try await shown(manager, &values)
      #expect(shown == [])
    }
  }

  @Test func `an entity that came in behind a large write of its flush leaves like any other`()
    async throws
  {
    try await withManager { manager, store in
      var values = manager.follow(jazz).makeAsyncIterator()
      try await expectNext(&values, [])
      let others = (2...9).map { Track($0, genre: "jazz") }
      try await inOneFlush(
        store, { for track in others { try $0.set(track) } },
        { try $0.set(Track(1, genre: "jazz")) })
      try await manager.set(Track(1, genre: "rock"))
      let shown = try await shown(manager, &values)
      #expect(shown == others)
    }
  }

  @Test func `a followed query lacks the entities that four tasks took out`() async throws {
    try await withManager { manager, _ in
      var values = manager.follow(jazz).makeAsyncIterator()
      try await expectNext(&values, [])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            for number in 0..<100 {
              try await manager.set(Track(number % 20, genre: "jazz"))
              try await manager.set(Track(number % 20, genre: "rock"))
            }
          }
        }
        try await group.waitForAll()
      }
      let found = try await manager.search(withQuery: jazz).entities
      #expect(found == [])
      let shown = try await shown(manager, &values)
      #expect(shown == [])
    }
  }
}
