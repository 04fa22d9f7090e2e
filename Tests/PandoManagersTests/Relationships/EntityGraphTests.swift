import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

@Suite struct EntityGraphTests {
  /// Runs `body` with a manager of pages over an empty store.
  private func run(
    _ body: (ModelStore, CoreManager<Page>) async throws -> Void
  ) async throws {
    let store = try ModelStore.temporary(configuration: Following.configuration)
    try await body(store, CoreManager<Page>(stores: [DiskStore(modelStore: store)]))
    await store.close()
  }

  private func set(_ store: ModelStore, pages: [Page] = [], owners: [Owner] = []) async throws {
    try await store.write { transaction in
      for page in pages { try transaction.set(page) }
      for owner in owners { try transaction.set(owner) }
    }
  }

  private let first = Query<Page>(ids: [.remote(1)])

  @Test func `a graph has every entity once, also where links go round in circles`() async throws {
    try await run { store, manager in
      try await set(
        store,
        pages: [Page(1, links: [2, 3], owner: 7), Page(2, links: [1]), Page(3, links: [2])],
        owners: [Owner(7, "Ada", home: 3)])
      let graph = try await manager.graph(of: first)
      #expect(graph.roots == [Page(1, links: [2, 3], owner: 7)])
      #expect(graph.all(of: Page.self).map(\.id) == [.remote(1), .remote(2), .remote(3)])
      #expect(graph.count == 4 && graph.missing.isEmpty)
      #expect(graph.related(to: graph.roots[0], by: \.owner) == [Owner(7, "Ada", home: 3)])
      #expect(graph[EntityIdentifier<Owner>.remote(7)]?.name == "Ada")
      #expect(graph[EntityIdentifier<Owner>.remote(8)] == nil)
    }
  }

  @Test func `a graph reaches ten steps, or as many as are asked for`() async throws {
    try await run { store, manager in
      try await set(store, pages: (1...20).map { Page($0, links: [$0 + 1]) })
      #expect(try await manager.graph(of: first).count == 11)
      #expect(try await manager.graph(of: first, shape: .all.limited(toDepth: 3)).count == 4)
      #expect(try await manager.graph(of: first, shape: .all.limited(toDepth: 0)).count == 1)
      let far = try await manager.graph(of: first, shape: .all.limited(toDepth: 100))
      #expect(far.count == 20 && far.missing == ["Page:21"])
    }
  }

  @Test func `paths are included with what leads to them, and excluded with what is behind`()
    async throws
  {
    try await run { store, manager in
      try await set(
        store,
        pages: [
          Page(1, links: [2], owner: 1), Page(2, links: [3], owner: 2), Page(3, owner: 3), Page(4),
        ],
        owners: [Owner(1, "A", home: 4), Owner(2, "B"), Owner(3, "C")])
      func nodes(_ shape: GraphShape<Page>) async throws -> [String] {
        try await manager.graph(of: first, shape: shape).order.map(\.text)
      }
      #expect(
        try await nodes(.including(GraphPath(\.links, \.owner)))
          == ["Page:1", "Page:2", "Owner:2"])
      #expect(
        try await nodes(.including(GraphPath(\.links), recursive: true))
          == ["Page:1", "Page:2", "Page:3", "Owner:2", "Owner:3"])
      #expect(
        try await nodes(.excluding(GraphPath(\.owner)))
          == ["Page:1", "Page:2", "Page:3", "Owner:2", "Owner:3"])
      #expect(
        try await nodes(.excluding(GraphPath(\.links), GraphPath(\.owner, \.home)))
          == ["Page:1", "Owner:1"])
      #expect(
        try await nodes(
          .including(GraphPath(\.links, \.links), GraphPath(\.owner)).excluding(GraphPath(\.owner)))
          == ["Page:1", "Page:2", "Page:3"])
    }
  }

  @Test func `a path that no type declares is an error`() async throws {
    try await run { _, manager in
      let error = await #expect(throws: ManagerError.self) {
        try await manager.graph(shape: .including(GraphPath(names: ["links", "author"])))
      }
      #expect(error?.code == .unknownRelationship)
      #expect(error?.description.contains("author") == true)
      var graphs = manager.followGraph(shape: .excluding(GraphPath(names: [])))
        .makeAsyncIterator()
      await #expect(throws: ManagerError.self) { _ = try await graphs.next() }
    }
  }

  @Test func `a related entity that can't be read is an error and no missing one`() async throws {
    try await run { store, manager in
      try await set(store, pages: [Page(1, owner: 1)], owners: [Owner(1, "Ada")])
      var graphs = manager.followGraph(of: first).makeAsyncIterator()
      #expect(try await graphs.next()?.count == 2)
      // It has no name.
      try await store.write { try $0.set(TreeNode("Owner:1", type: "Owner", fields: ["id": 1])) }
      await #expect(throws: ModelError.self) { try await manager.graph(of: first) }
      await #expect(throws: ModelError.self) { _ = try await graphs.next() }
      #expect(try await graphs.next() == nil)
    }
  }

  @Test func `every entity of a followed graph counts, and nothing else`() async throws {
    try await run { store, manager in
      try await set(
        store, pages: [Page(1, links: [2]), Page(2, owner: 1), Page(9)], owners: [Owner(1, "Ada")])
      let hub = try StoreHub.hub(of: store)
      var graphs = manager.followGraph(of: first).makeAsyncIterator()
      #expect(try await graphs.next()?.all(of: Owner.self).map(\.name) == ["Ada"])
      let before = hub.tally.evaluations
      try await set(store, pages: [Page(9, "changed")], owners: [Owner(5, "Grace")])
      #expect(hub.tally.evaluations == before)
      // Two steps away from the root.
      try await set(store, owners: [Owner(1, "Ada Lovelace")])
      #expect(try await graphs.next()?.all(of: Owner.self).map(\.name) == ["Ada Lovelace"])
      // One that is missed comes in when it is there.
      try await set(store, pages: [Page(2, links: [3], owner: 1)])
      #expect(try await graphs.next()?.missing == ["Page:3"])
      try await set(store, pages: [Page(3)])
      let whole = try await graphs.next()
      #expect(whole?.missing == [] && whole?.count == 4)
      try await store.write { try $0.deleteIfPresent("Page:2") }
      #expect(try await graphs.next()?.count == 1)
      #expect(hub.viewCount == 1)
    }
  }

  @Test func `a root comes and goes with the models that name it`() async throws {
    try await run { store, manager in
      try await set(
        store, pages: [Page(1, links: [2], owner: 1), Page(2)], owners: [Owner(1, "Ada")])
      let named = Query<Page>(filter: .has(by: \Bookmark.page))
      var graphs = manager.followGraph(of: named).makeAsyncIterator()
      #expect(try await graphs.next()?.count == 0)
      try await store.write { try $0.set(Bookmark(id: 1, page: Key(rawValue: "Page:1"))) }
      #expect(try await graphs.next()?.count == 3)
      try await set(store, owners: [Owner(1, "Ada Lovelace")])
      #expect(try await graphs.next()?.all(of: Owner.self).map(\.name) == ["Ada Lovelace"])
      try await store.write { try $0.set(Bookmark(id: 1, page: Key(rawValue: "Page:2"))) }
      #expect(try await graphs.next()?.count == 1)
      try await store.write { try $0.delete(Bookmark.key(1)) }
      #expect(try await graphs.next()?.count == 0)
    }
  }

  @Test func `of many graphs a commit costs those whose roots it may change`() async throws {
    try await run { store, manager in
      var graphs = (0..<200).map { number in
        manager.followGraph(of: Query(filter: \Page.text == "text \(number)"))
          .makeAsyncIterator()
      }
      for index in graphs.indices { _ = try await graphs[index].next() }
      let hub = try StoreHub.hub(of: store)
      let before = hub.tally.evaluations
      try await set(store, pages: [Page(1, "text 7"), Page(2, "else")])
      #expect(try await graphs[7].next()?.count == 1)
      #expect(hub.tally.evaluations == before + 1)
      try await set(store, pages: [Page(1, "text 8")])
      #expect(try await graphs[7].next()?.count == 0)
      #expect(try await graphs[8].next()?.count == 1)
      #expect(hub.tally.evaluations == before + 3)
    }
  }

  /// A review is in the query because of what is inside it.
  @Test func `a root that comes in by a change inside it is found`() async throws {
    try await run { store, _ in
      let reviews = CoreManager<Review>(stores: [DiskStore(modelStore: store)])
      let byAda = Query(filter: \Review.critic.name == "Ada")
      try await store.write { try $0.set(Review(1, Critic(1, "Bob"))) }
      var graphs = reviews.followGraph(of: byAda).makeAsyncIterator()
      var results = reviews.follow(byAda).makeAsyncIterator()
      #expect(try await graphs.next()?.count == 0)
      #expect(try await results.next()?.count == 0)
      try await store.write { try $0.set(Critic(1, "Ada")) }
      #expect(try await reviews.search(withQuery: byAda).count == 1)
      #expect(try await graphs.next()?.count == 1)
      #expect(try await results.next()?.count == 1)
    }
  }

  /// The commit changes the holder, and no critic.
  @Test func `a graph of held roots follows what the holder gains and loses`() async throws {
    try await run { store, _ in
      let critics = CoreManager<Critic>(stores: [DiskStore(modelStore: store)])
      let held = Query<Critic>(filter: .held(by: EntityIdentifier<Review>.remote(1)))
      try await store.write { transaction in
        try transaction.set(Critic(1, "Ada"))
        try transaction.set(Critic(2, "Bob"))
        try transaction.set(Review(1, Critic(1, "Ada")))
      }
      var graphs = critics.followGraph(of: held).makeAsyncIterator()
      #expect(try await graphs.next()?.roots.map(\.name) == ["Ada"])
      let hub = try StoreHub.hub(of: store)
      let before = hub.tally.evaluations
      try await store.write { try $0.set(Review(1, Critic(2, "Bob"))) }
      try #require(hub.tally.evaluations > before)
      #expect(try await graphs.next()?.roots.map(\.name) == ["Bob"])
    }
  }

  /// A critic is an entity of the graph, and inside a review of it.
  @Test func `an entity of the graph inside another one is shown as stored`() async throws {
    try await run { store, _ in
      let panels = CoreManager<Panel>(stores: [DiskStore(modelStore: store)])
      try await store.write { transaction in
        try transaction.set(Review(1, Critic(1, "Bob")))
        try transaction.set(Panel(1, reviews: [1], critics: [1]))
      }
      for query in [Query<Panel>.all, Query(ids: [.remote(1)])] {
        var graphs = panels.followGraph(of: query).makeAsyncIterator()
        #expect(try await graphs.next() == panels.graph(of: query))
        for name in ["Ada", "Bob"] {
          try await store.write { try $0.set(Critic(1, name)) }
          let graph = try await graphs.next()
          #expect(graph?.all(of: Critic.self).map(\.name) == [name])
          #expect(graph?.all(of: Review.self).map(\.critic.name) == [name])
        }
      }
    }
  }

  @Test func `sources of a path are read once for each identifier, and their errors are thrown`()
    async throws
  {
    try await run { store, manager in
      struct Unreachable: Error {}
      let asked = Locked<[[EntityIdentifier<Owner>]]>([])
      let shape = GraphShape<Page>.all.fetching(GraphPath(\.owner)) { ids in
        asked.withLock { $0.append(ids) }
        if ids.contains(.remote(99)) { throw Unreachable() }
        return ids.compactMap { $0.remoteID }.map { Owner($0, "fetched \($0)") }
      }
      try await set(
        store, pages: [Page(1, owner: 1), Page(2, owner: 2)], owners: [Owner(2, "here")])
      let all = Query<Page>()
      let graph = try await manager.graph(of: all, shape: shape)
      #expect(graph.all(of: Owner.self).map(\.name) == ["fetched 1", "here"])
      #expect(asked.withLock { $0 } == [[.remote(1), .remote(2)]])
      var graphs = manager.followGraph(of: all, shape: shape).makeAsyncIterator()
      #expect(try await graphs.next() == graph)
      try await set(store, pages: [Page(3, owner: 3)])
      let grown = try await manager.followGraph(of: all, shape: shape).first { graph in
        graph.all(of: Owner.self).map(\.name) == ["fetched 1", "here", "fetched 3"]
      }
      #expect(grown != nil)
      try await set(store, pages: [Page(4, owner: 99)])
      await #expect(throws: Unreachable.self) { try await manager.graph(of: all, shape: shape) }
      await #expect(throws: Unreachable.self) {
        while try await graphs.next() != nil {}
      }
    }
  }

  @Test(arguments: seeds(6))
  func `a followed graph is what is loaded afresh, after every commit`(seed: UInt64) async throws {
    try await run { store, manager in
      var random = SeededGenerator(seed: seed)
      let shapes: [GraphShape<Page>] = [
        .all, .including(GraphPath(\.links, \.owner)), .all.limited(toDepth: 2),
        .excluding(GraphPath(\.owner, \.home)),
      ]
      let queries: [Query<Page>] = [
        first, Query(filter: \Page.text == "a"), Query(order: [.descending(\.text)], limit: 2),
      ]
      var followed: [(GraphShape<Page>, Query<Page>)] = []
      for shape in shapes { for query in queries { followed.append((shape, query)) } }
      var graphs = followed.map { shape, query in
        manager.followGraph(of: query, shape: shape).makeAsyncIterator()
      }
      var last: [EntityGraph<Page>?] = followed.map { _ in nil }
      for step in 0..<60 {
        try await change(store, &random)
        for (index, (shape, query)) in followed.enumerated() {
          let expected = try await manager.graph(of: query, shape: shape)
          if last[index] == expected { continue }
          let actual = try await graphs[index].next()
          try #require(actual == expected, "seed \(seed), step \(step), graph \(index)")
          last[index] = expected
        }
      }
    }
  }

  @Test(arguments: seeds(4))
  func `after quick writes of several tasks followed graphs are what is loaded afresh`(
    seed: UInt64
  ) async throws {
    try await run { store, manager in
      let queries: [Query<Page>] = [
        first, Query(filter: \Page.text == "a"), Query(filter: \Page.text == "b"), Query(),
        Query(order: [.descending(\.text)], limit: 2),
      ]
      var graphs = queries.map { manager.followGraph(of: $0).makeAsyncIterator() }
      var last: [EntityGraph<Page>?] = []
      for index in graphs.indices { last.append(try await graphs[index].next()) }
      for round in 0..<6 {
        try await withThrowingTaskGroup { group in
          for task in 0..<3 {
            group.addTask {
              var random = SeededGenerator(seed: seed &* 100 &+ UInt64(round * 3 + task))
              try await withThrowingTaskGroup { writes in
                for _ in 0..<20 {
                  var own = SeededGenerator(seed: random.next())
                  writes.addTask { try await self.change(store, &own) }
                }
                try await writes.waitForAll()
              }
            }
          }
          try await group.waitForAll()
        }
        for (index, query) in queries.enumerated() {
          let expected = try await manager.graph(of: query)
          if last[index] == expected { continue }
          let actual = try await graphs[index].next()
          try #require(actual == expected, "seed \(seed), round \(round), graph \(index)")
          last[index] = expected
        }
      }
    }
  }

  private func change(_ store: ModelStore, _ random: inout SeededGenerator) async throws {
    let number = Int.random(in: 1...8, using: &random)
    let other = Int.random(in: 1...8, using: &random)
    let links = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      Int.random(in: 1...8, using: &random)
    }
    let text = ["a", "b", "c"].randomElement(using: &random) ?? ""
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try await store.write { try $0.deleteIfPresent("Page:\(number)") }
    case 1: try await store.write { try $0.deleteIfPresent("Owner:\(number)") }
    case 2: try await set(store, owners: [Owner(number, text, home: other)])
    default: try await set(store, pages: [Page(number, text, links: links, owner: other)])
    }
  }
}

/// Names a page.
@Model private struct Bookmark {
  @Key var id: Int
  var page: Key<Page>
}
