import Observation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem
import Testing

@Model private struct Reading {
  @Key var sensor: Int
  var value: Int
}

@Suite struct FollowedValueTests {
  private let store: ModelStore

  init() throws { store = try ModelStore.inMemory() }

  private func set(_ sensor: Int, _ value: Int) async throws {
    try await store.write { try $0.set(Reading(sensor: sensor, value: value)) }
  }

  /// Waits until a condition holds, by Observation alone.
  private func wait<Value>(
    _ followed: Followed<Value>, _ condition: (Followed<Value>) -> Bool
  ) async {
    var isDone = false
    while !isDone {
      let (changes, change) = AsyncStream<Void>.makeStream()
      isDone = withObservationTracking {
        condition(followed)
      } onChange: {
        change.finish()
      }
      if !isDone { for await _ in changes {} }
    }
  }

  @Test func `a model is followed by its key`() async throws {
    var values = store.follow(Reading.key(1)).makeAsyncIterator()
    #expect(try await values.next() == .some(nil))
    try await set(2, 9)
    try await set(1, 5)
    #expect(try await values.next() == Reading(sensor: 1, value: 5))
    try await store.write { try $0.delete(Reading.key(1)) }
    #expect(try await values.next() == .some(nil))
  }

  @Test func `a value is tracked by Observation`() async throws {
    let followed = Followed(store.follow(Query(filter: \Reading.value > 3)))
    await wait(followed) { $0.value?.isEmpty == true }
    try await set(1, 5)
    await wait(followed) { $0.value?.count == 1 }
    try await set(1, 3)
    await wait(followed) { $0.value?.isEmpty == true }
    #expect(followed.error == nil)
  }

  @Test func `an error ends the following`() async throws {
    let wrong = Query(filter: .matches(\Reading.key.rawValue, "("))
    let followed = Followed(store.follow(wrong))
    await wait(followed) { $0.error != nil }
    #expect(followed.error is QueryError)
    #expect(followed.value == nil)
  }

  @Test func `a value without references follows no longer`() async throws {
    weak var gone: Followed<QueryResult<Reading>>?
    do {
      let followed = Followed(store.follow(Query<Reading>()))
      await wait(followed) { $0.value != nil }
      gone = followed
    }
    try await set(1, 1)
    while gone != nil { await Task.yield() }
    #expect(gone == nil)
  }
}
