import PandoFixtures
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

private struct Tool: Model, Codable, Equatable, Queryable {
  var id: Int
  var name: String
  var modelIdentifier: String? { "Tool:\(id)" }
  static let fields: [Field<Tool>] = [.field(\.name), .field(\.id)]
}

/// Reads that tasks wait for.
@Suite(.overBothBackings) struct ReaderThreadTests {
  struct Refusal: Error {}

  private static func store(threads: Int) throws -> ModelStore {
    var configuration = ModelStore.Configuration.forTests
    configuration.readerThreadCount = threads
    let store = try ModelStore.forTest(configuration)
    for (id, name) in [(1, "saw"), (2, "axe"), (3, "file")] {
      try store.write { try $0.set(Tool(id: id, name: name)) }
    }
    return store
  }

  @Test func `a model, a query and an answer are the same in both forms`() async throws {
    let store = try Self.store(threads: 2)
    let key = Key<Tool>(rawValue: "Tool:2")
    let byName = Query(order: [.ascending(\Tool.name)])
    func read() throws -> ([Tool?], [Tool], Int?) {
      let first = try store.first(byName)
      return (
        [try store.get(key), first], try store.find(byName).entities,
        try store.answer(.count, to: byName)
      )
    }
    let (ones, all, count) = try read()
    #expect(ones == [Tool(id: 2, name: "axe"), Tool(id: 2, name: "axe")])
    #expect(all.map(\.name) == ["axe", "file", "saw"])
    #expect(count == 3)
    #expect(try await store.get(key) == ones[0])
    #expect(try await store.first(byName) == ones[1])
    #expect(try await store.find(byName).entities == all)
    #expect(try await store.answer(.count, to: byName) == count)
    #expect(try await store.read { try $0.contains("Tool:3") })
  }

  @Test func `the error of a read reaches its task`() async throws {
    let store = try Self.store(threads: 1)
    await #expect(throws: Refusal.self) { try await store.read { _ in throw Refusal() } }
  }

  @Test func `a read that waits shows what was committed before it begins`() async throws {
    let store = try Self.store(threads: 1)
    let (hasBegun, goesOn) = (Event(), Event())
    async let running = store.read { snapshot in
      hasBegun.signal()
      goesOn.wait()
      return try snapshot.contains("Tool:4")
    }
    await blocking { hasBegun.wait() }
    async let waiting = store.read { try $0.contains("Tool:4") }
    while store.readers.waitingCount == 0 { await Task.yield() }
    try await store.write { try $0.set(Tool(id: 4, name: "hammer")) }
    goesOn.signal()
    #expect(try await !running)
    #expect(try await waiting)
  }

  @Test func `a read inside a read, and one inside a write, need no reader thread`() async throws {
    let store = try Self.store(threads: 1)
    let key = Key<Tool>(rawValue: "Tool:1")
    let inside = try await store.read { _ in try store.get(key) }
    #expect(inside?.name == "saw")
    let name = try await store.write { _ in try store.get(key)?.name }
    #expect(name == "saw")
  }

  @Test func `a write inside a read of a task is committed`() async throws {
    let store = try Self.store(threads: 1)
    try await store.read { _ in
      try store.write { try $0.set(Tool(id: 5, name: "plane")) }
    }
    #expect(try await store.get(Key<Tool>(rawValue: "Tool:5"))?.name == "plane")
  }

  @Test func `closing waits for running reads, and later ones are refused`() async throws {
    let store = try Self.store(threads: 1)
    let (hasBegun, goesOn) = (Event(), Event())
    let hasEnded = Locked(false)
    let running = Task {
      try await store.read { _ in
        hasBegun.signal()
        goesOn.wait()
        hasEnded.withLock { $0 = true }
      }
    }
    await blocking { hasBegun.wait() }
    let closing = Task {
      await store.close()
      return hasEnded.withLock(\.self)
    }
    while store.closedError == nil { await Task.yield() }
    goesOn.signal()
    #expect(await closing.value)
    try await running.value
    let error = await #expect(throws: StoreError.self) { try await store.read { _ in } }
    #expect(error?.code == .closed)
  }

  @Test func `a store may be opened again when its last read has returned`() async throws {
    try await withTemporaryDirectory { path in
      for _ in 0..<20 {
        func use() async throws -> Int {
          let store = try ModelStore(path: path, configuration: .forTests)
          return try await store.read { _ in 1 }
        }
        let result = try await use()
        #expect(result == 1)
      }
    }
  }

  @Test func `at least one reader thread is needed`() async {
    await #expect(processExitsWith: .failure) {
      var configuration = ModelStore.Configuration.forTests
      configuration.readerThreadCount = 0
      _ = try ModelStore.temporary(configuration: configuration)
    }
  }
}
