import Pando

/// Live views over a store, of nodes that do not change.
final class Bystanders: @unchecked Sendable {
  // Sendable because one task fills it, and is waited for.

  /// A kind of live view.
  enum Kind: String, CaseIterable {
    /// Providers of a tree of two nodes.
    case trees
    /// Providers of a collection of four rows.
    case lists
    /// Followed queries, of the jobs of one assignee.
    case queries
    /// Followed graphs of the same.
    case graphs
    /// Caches of managers that hold entities.
    case caches
  }

  /// How many rows a list has.
  private static let rowCount = 4
  /// A manager has one cache; more than this many would be no service.
  private static let cacheMaximum = 10

  private let store: ModelStore
  private let container: CoreManagerContainer
  private var caches: [CoreManagerContainer] = []
  private var providers: [DataProvider<KeyPathPost>] = []
  private var lists: [CollectionDataProvider<LiveAuthor>] = []
  private var queries: [FollowedSequence<QueryResult<Job>>.AsyncIterator] = []
  private var graphs: [FollowedSequence<EntityGraph<Job>>.AsyncIterator] = []

  /// Makes the views.
  ///
  /// - Parameters:
  ///   - store: Where everything is; it has the jobs of as many people as there are views.
  ///   - kinds: The kinds of the views, which take turns.
  ///   - count: How many views there are; there are fewer caches.
  /// - Throws: The error of a view that can't begin.
  init(_ store: ModelStore, _ kinds: [Kind], count: Int) throws {
    self.store = store
    container = try CoreManagerContainer(
      entities: Job.self, cacheLimit: 0, diskStoreConfig: .store(store))
    let outcome = TaskOutcome<Void>()
    waitUntilDone { [self] in
      await outcome.run {
        for number in 0..<count { try await show(kinds[number % kinds.count], number) }
        await container.dataModelManager.drain()
      }
    }
    try outcome.value()
  }

  deinit {
    waitUntilDone { [containers = caches + [container]] in
      for container in containers { await container.close() }
    }
  }

  private func show(_ kind: Kind, _ number: Int) async throws {
    let jobs = Query(filter: \Job.assignee == number)
    switch kind {
    case .trees: try await showTree(number)
    case .lists: try await showList(number)
    case .queries:
      var query = container[Job.self].follow(jobs).makeAsyncIterator()
      _ = try await query.next()
      queries.append(query)
    case .graphs:
      var graph = container[Job.self].followGraph(of: jobs).makeAsyncIterator()
      _ = try await graph.next()
      graphs.append(graph)
    case .caches:
      guard caches.count < Self.cacheMaximum else { return }
      let cache = try CoreManagerContainer(entities: Job.self, diskStoreConfig: .store(store))
      let found = try await cache[Job.self].search(withQuery: Query(filter: \Job.assignee < 100))
      // The answer of a long search is not kept.
      _ = try await cache[Job.self].get(byIDs: found.entities.map(\.id))
      caches.append(cache)
    }
  }

  private func showTree(_ number: Int) async throws {
    let provider = DataProvider<KeyPathPost>(dataModelManager: container.dataModelManager)
    let author = LiveAuthor(identifier: "author:\(number)", number: 0)
    let post = KeyPathPost(identifier: "post:\(number)", number: 0, author: author)
    try await provider.setData(post).committed()
    providers.append(provider)
  }

  private func showList(_ number: Int) async throws {
    let list = CollectionDataProvider<LiveAuthor>(dataModelManager: container.dataModelManager)
    let rows = (0..<Self.rowCount).map { LiveAuthor(identifier: "row:\(number):\($0)", number: 0) }
    try await list.setData(rows, cacheKey: "list:\(number)").committed()
    lists.append(list)
  }

  /// The checksum of the shown models, which must not change.
  var checksum: UInt64 {
    let posts = providers.reduce(0) { $0 + ($1.data?.author.number ?? 1) }
    return UInt64(lists.reduce(posts) { sum, list in list.data.reduce(sum) { $0 + $1.number } })
  }
}
