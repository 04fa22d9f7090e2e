import PandoLMDB
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem

/// Runs a test with an empty store, which is closed afterwards.
func withModelStore<Result>(
  _ body: (ModelStore) async throws -> Result
) async throws -> Result {
  var configuration = ModelStore.Configuration()
  configuration.mapSizeInBytes = 64 << 20
  configuration.durability = .unsynchronized
  let store = try ModelStore.temporary(configuration: configuration)
  do {
    let result = try await body(store)
    await store.close()
    return result
  } catch {
    await store.close()
    throw error
  }
}

/// Why a double does not answer.
enum TestFailure: RemoteFailure, Equatable {
  case connection
  case notFound
  case refused
  case broken(String)

  var remoteFailureKind: RemoteFailureKind {
    switch self {
    case .connection: .connection
    case .notFound: .notFound
    default: .other
    }
  }
}

/// A server, or any other store, that answers what the test says and remembers what it was asked.
final class ScriptedStore<E: Entity>: Storing {
  struct State {
    var entities: [E] = []
    var failure: (any Error)?
    var calls: [String] = []
    var beforeAnswer: (@Sendable () async -> Void)?
  }

  let level: StoreLevel
  let state: Locked<State>

  init(_ level: StoreLevel = .remote, _ entities: [E] = []) {
    self.level = level
    state = Locked(State(entities: entities))
  }

  var calls: [String] { state.withLock { $0.calls } }
  var entities: [E] {
    get { state.withLock { $0.entities } }
    set { state.withLock { $0.entities = newValue } }
  }

  func fail(_ failure: TestFailure?) { state.withLock { $0.failure = failure } }

  /// Has something happen between the moment in which an answer is made and that in which it comes.
  func beforeAnswer(_ body: (@Sendable () async -> Void)?) {
    state.withLock { $0.beforeAnswer = body }
  }

  private func answer<Result>(
    _ call: String, _ body: (inout [E]) throws -> Result
  ) async throws -> Result {
    let (result, meanwhile) = state.withLock { state in
      state.calls.append(call)
      let failure = state.failure
      let result = Swift.Result { () throws -> Result in
        if let failure { throw failure }
        return try body(&state.entities)
      }
      return (result, state.beforeAnswer)
    }
    await meanwhile?()
    return try result.get()
  }

  func get(withQuery query: Query<E>, in context: ReadContext<E>) async throws -> QueryResult<E> {
    try await answer("get") { try query.apply(to: $0) }
  }

  func search(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> { try await answer("search") { try query.apply(to: $0) } }

  func set(_ new: [E], in context: WriteContext<E>) async throws -> [E] {
    try await answer("set \(new.count)") { entities in
      for entity in new {
        if let index = entities.firstIndex(where: { $0.id == entity.id }) {
          entities[index] = entity
        } else {
          entities.append(entity)
        }
      }
      return new
    }
  }

  func remove(_ identifiers: [EntityIdentifier<E>], in context: WriteContext<E>) async throws {
    try await answer("remove \(identifiers.count)") { entities in
      entities.removeAll { identifiers.contains($0.id) }
    }
  }

  func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    try await answer("removeAll") { entities in
      let gone = try query.apply(to: entities).entities.map(\.id)
      entities.removeAll { gone.contains($0.id) }
      return gone
    }
  }
}

extension Book {
  /// A book of a server.
  init(_ key: String, _ title: String = "", year: Int? = nil) {
    self.init(id: .remote(key), title: title, year: year)
  }
}

/// A note that lives in memory only.
struct Note: LocalEntity {
  var id: EntityIdentifier<Note>
  var text = ""
}
