import PandoFixtures
import PandoLMDB
import PandoStore
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

/// A store with its hub, for tests that need no manager.
struct Following {
  let store: ModelStore
  let hub: StoreHub
  let scope = FollowedScope()

  init(_ store: ModelStore) throws {
    self.store = store
    hub = try StoreHub.hub(of: store)
  }

  /// Runs `body` with an empty store, and closes it afterwards.
  static func run(_ body: (Following) async throws -> Void) async throws {
    let store = try ModelStore.temporary(configuration: configuration)
    try await body(Following(store))
    await store.close()
  }

  static var configuration: ModelStore.Configuration {
    var configuration = ModelStore.Configuration()
    configuration.mapSizeInBytes = 64 << 20
    configuration.durability = .unsynchronized
    return configuration
  }

  /// A query to follow.
  func query<E: Entity>(
    _ query: Query<E>, contract: (any EntityContract<E>)? = nil,
    validator: (any UserAccessValidating)? = nil, first: FirstAnswer<E> = .local,
    events: ManagerEventHandler? = nil
  ) -> FollowedQuery<E> {
    let followed = AcceptedQuery(query, contract: contract)
    return FollowedQuery(followed, events: events) {
      FollowedSource(
        line: .success(.init(begin: { hub.begin($0) }, shown: hub.shown)), scope: scope,
        validator: validator, first: first, make: $0)
    }
  }

  /// Waits until nothing is followed any more.
  ///
  /// Followers go at once; reads and calls that are running end a moment later.
  func allGone() async {
    while hub.viewCount > 0 || scope.count > 0 { await Task.yield() }
  }

  /// Commits entities.
  func set(_ entities: Track...) async throws {
    try await store.write { transaction in
      for entity in entities { try transaction.set(entity) }
    }
  }

  /// Commits that tracks are gone.
  func delete(_ ids: Int...) async throws {
    try await store.write { transaction in
      for id in ids { try transaction.deleteIfPresent("Track:\(id)") }
    }
  }
}

/// Takes the next result and compares its entities.
func expectNext<E: Entity>(
  _ iterator: inout FollowedSequence<QueryResult<E>>.AsyncIterator, _ expected: [E],
  sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let element = try await iterator.next()
  try #require(element?.entities == .some(expected), sourceLocation: sourceLocation)
}
