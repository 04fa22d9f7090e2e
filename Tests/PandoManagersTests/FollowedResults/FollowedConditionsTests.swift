import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

@Model private struct Plate {
  @Key var id: Int
  var text: String
}

@Model private struct Hall {
  @Key var id: Int
  var name: String
  var sign: Plate?
}

@Model private struct Sample {
  @Key var id: Int
  var room: Key<Hall>?
  var others: [Key<Hall>] = []
  var degrees: Int
}

@Model private struct Colleague {
  @Key var id: Int
  var leader: Key<Colleague>?
  var isAway = false
}

/// How a followed query with `.has` is staged from the models of a write.
@Suite struct FollowedConditionsTests {
  /// A followed list, and the followed count of all its entities.
  private struct Views<E: Queryable & Equatable> {
    let following: Following
    let query: Query<E>
    private let list: LiveQuery<E>
    private let count: LiveAnswer<E, Int>

    init(_ following: Following, _ query: Query<E>) async {
      (self.following, self.query) = (following, query)
      list = LiveQuery(AcceptedQuery(query))
      // An answer about a page is asked again after each commit.
      var all = query
      all.limit = nil
      count = LiveAnswer(.count, of: all)
      following.hub.begin(list)
      following.hub.begin(count)
      await following.hub.shown()
    }

    func expectCost(
      _ expected: HubTally, sourceLocation: SourceLocation = #_sourceLocation,
      of body: @escaping @Sendable (inout ModelTransaction) throws -> Void
    ) async throws {
      let cost = try await cost(sourceLocation: sourceLocation, of: body)
      #expect(cost == expected, sourceLocation: sourceLocation)
    }

    func expectSnapshots(
      _ count: Int, sourceLocation: SourceLocation = #_sourceLocation,
      of body: @escaping @Sendable (inout ModelTransaction) throws -> Void
    ) async throws {
      let cost = try await cost(sourceLocation: sourceLocation, of: body)
      #expect(cost.snapshots == count, sourceLocation: sourceLocation)
    }

    /// The cost of a write, after a check that both views show what the store answers.
    func cost(
      sourceLocation: SourceLocation = #_sourceLocation,
      of body: @escaping @Sendable (inout ModelTransaction) throws -> Void
    ) async throws -> HubTally {
      let before = following.hub.tally
      // It returns when all views show it.
      try await following.store.write(body)
      let after = following.hub.tally
      let expected = try await following.store.find(query).entities
      let number = try await following.store.answer(.count, to: count.followed.query)
      #expect(list.state.current?.shown == expected, sourceLocation: sourceLocation)
      #expect(
        try count.state.current?.answer(to: .count) == number,
        sourceLocation: sourceLocation)
      return HubTally(
        reads: after.reads - before.reads, evaluations: after.evaluations - before.evaluations,
        refills: after.refills - before.refills, snapshots: after.snapshots - before.snapshots)
    }
  }

  private static let hot = Query(filter: \Sample.degrees > 70)
  private static let hotRooms = Query<Hall>(
    filter: .has(hot, by: \.room), order: [.ascending(\.name)])

  private static func reading(_ id: Int, _ room: Int?, _ degrees: Int) -> Sample {
    Sample(id: id, room: room.map { Hall.key($0) }, degrees: degrees)
  }

  private static func listing(_ id: Int, _ rooms: [Int]) -> Sample {
    Sample(id: id, room: nil, others: rooms.map { Hall.key($0) }, degrees: 80)
  }

  /// Runs `body` with three rooms, each with a reading of its number and of 20 degrees.
  private static func run(
    _ query: Query<Hall> = hotRooms, _ body: (Views<Hall>) async throws -> Void
  ) async throws {
    try await Following.run { following in
      try await following.store.write { transaction in
        for id in 1...3 {
          try transaction.set(Hall(id: id, name: "room \(id)"))
          try transaction.set(reading(id, id, 20))
        }
      }
      try await body(await Views(following, query))
    }
  }

  @Test func `a reading that changes no count costs nothing`() async throws {
    try await Self.run { views in
      try await views.expectCost(HubTally()) { try $0.set(Self.reading(1, 1, 30)) }
      try await views.expectCost(HubTally()) { try $0.set(Self.reading(2, 3, 10)) }
      try await views.expectCost(HubTally()) { try $0.set(Self.reading(9, nil, 10)) }
      try await views.expectCost(HubTally()) { try $0.delete(Sample.key(9)) }
    }
  }

  @Test func `a room that enters is read, and no snapshot of the pipeline`() async throws {
    try await Self.run { views in
      let moves = HubTally(reads: 2, evaluations: 2)
      // It enters.
      try await views.expectCost(moves) { try $0.set(Self.reading(1, 1, 80)) }
      // A second hot reading, then only one of them.
      try await views.expectCost(HubTally()) { try $0.set(Self.reading(4, 1, 90)) }
      try await views.expectCost(HubTally()) { try $0.set(Self.reading(1, 1, 71)) }
      try await views.expectCost(HubTally()) { try $0.set(Self.reading(1, 1, 70)) }
      // The last hot reading moves to another room.
      try await views.expectCost(HubTally(reads: 4, evaluations: 4)) {
        try $0.set(Self.reading(4, 2, 90))
      }
      // It names no room, and is deleted.
      try await views.expectCost(moves) { try $0.set(Self.reading(4, nil, 90)) }
      try await views.expectCost(HubTally()) { try $0.delete(Sample.key(4)) }
      try await views.expectCost(moves) { try $0.set(Self.reading(1, 3, 99)) }
      try await views.expectCost(moves) { try $0.delete(Sample.key(1)) }
    }
  }

  @Test func `a room that comes, changes or goes is staged from the write`() async throws {
    try await Self.run { views in
      _ = try await views.cost { try $0.set(Self.reading(1, 1, 80)) }
      let own = HubTally(evaluations: 2)
      try await views.expectCost(own) { try $0.set(Hall(id: 1, name: "z")) }
      try await views.expectCost(own) { try $0.set(Hall(id: 2, name: "y")) }
      try await views.expectCost(own) { try $0.delete(Hall.key(1)) }
      // Its readings have stayed.
      try await views.expectCost(own) { try $0.set(Hall(id: 1, name: "a")) }
      // A room with its first reading, and one that is hot although the write has not touched it.
      let cost = try await views.cost { transaction in
        try transaction.set(Hall(id: 7, name: "seven"))
        try transaction.set(Self.reading(7, 7, 75))
        try transaction.set(Self.reading(8, 2, 75))
      }
      #expect(cost == HubTally(reads: 2, evaluations: 4))
      // A write of several kinds says too little.
      let mixed = try await views.cost { transaction in
        try transaction.delete(Hall.key(2))
        try transaction.set(Self.reading(1, 3, 75))
      }
      #expect(mixed.snapshots == 2)
    }
  }

  @Test func `a nested transaction that throws changes no count`() async throws {
    try await Self.run { views in
      struct Stop: Error {}
      let cost = try await views.cost { transaction in
        try transaction.set(Self.reading(1, 1, 80))
        try? transaction.nested { inner in
          try inner.set(Self.reading(1, 1, 10))
          try inner.set(Self.reading(2, 2, 90))
          throw Stop()
        }
      }
      #expect(cost == HubTally(reads: 2, evaluations: 2))
    }
  }

  @Test func `a reading that lists a room twice counts once`() async throws {
    let listed = Query<Hall>(
      filter: .has(Self.hot, by: .each(\.others), atLeast: 2), order: [.ascending(\.name)])
    try await Self.run(listed) { views in
      try await views.expectCost(HubTally()) { try $0.set(Self.listing(11, [1, 1, 2])) }
      try await views.expectCost(HubTally(reads: 2, evaluations: 2)) {
        try $0.set(Self.listing(12, [2, 3]))
      }
      try await views.expectCost(HubTally(reads: 4, evaluations: 4)) {
        try $0.set(Self.listing(13, [3, 1, 1]))
      }
      // Many entities that move at once are read with other commits.
      try await views.following.store.write { transaction in
        for id in 10...60 { try transaction.set(Hall(id: id, name: "\(id)")) }
      }
      _ = try await views.cost { try $0.set(Self.listing(14, Array(10...60))) }
      try await views.expectSnapshots(2) { try $0.set(Self.listing(15, Array(10...60))) }
    }
  }

  /// Colleague 2 names worker 1, and is the only model of the write.
  @Test func `an entity that the write has not touched is not that of the write`() async throws {
    try await Following.run { following in
      try await following.store.write { transaction in
        for id in 1...3 { try transaction.set(Colleague(id: id)) }
      }
      let leaders = Query<Colleague>(filter: .has(by: \Colleague.leader) && \.isAway == false)
      let views = await Views(following, leaders)
      let cost = try await views.cost { transaction in
        try transaction.set(Colleague(id: 2, leader: Colleague.key(1), isAway: true))
      }
      #expect(cost == HubTally(reads: 2, evaluations: 4))
      try await views.expectSnapshots(0) { try $0.set(Colleague(id: 1, leader: Colleague.key(1))) }
      try await views.expectSnapshots(0) { try $0.delete(Colleague.key(2)) }
    }
  }

  @Test func `conditions inside conditions are counted from the write too`() async throws {
    let led = Query<Colleague>(filter: .has(by: \Colleague.leader))
    let leaders = Query<Colleague>(filter: .has(led, by: \Colleague.leader))
    try await Following.run { following in
      try await following.store.write { transaction in
        for id in 1...4 { try transaction.set(Colleague(id: id)) }
      }
      let views = await Views(following, leaders)
      let steps = [(2, 1), (3, 2), (4, 2), (3, nil), (4, 1), (2, nil), (4, 2), (2, 1), (4, nil)]
      for (id, leader) in steps {
        let worker = Colleague(id: id, leader: leader.map { Colleague.key($0) })
        try await views.expectSnapshots(0) { try $0.set(worker) }
      }
    }
  }

  /// The sign of a room that has entered by its reading is part of the result.
  @Test func `a node inside an entity that enters is followed`() async throws {
    try await Following.run { following in
      try await following.store.write { transaction in
        try transaction.set(Hall(id: 1, name: "a"))
        try transaction.set(Hall(id: 5, name: "b", sign: Plate(id: 1, text: "old")))
      }
      // No entity with a child has been seen yet.
      let views = await Views(following, Self.hotRooms)
      try await views.expectSnapshots(0) { try $0.set(Self.reading(5, 5, 80)) }
      _ = try await views.cost { try $0.set(Plate(id: 1, text: "new")) }
    }
    try await Self.run { views in
      _ = try await views.cost { transaction in
        try transaction.set(Self.reading(5, 5, 80))
        try transaction.set(Hall(id: 5, name: "b", sign: Plate(id: 1, text: "old")))
      }
      _ = try await views.cost { try $0.set(Plate(id: 1, text: "new")) }
    }
  }

  @Test func `a window with a limit keeps its reserve`() async throws {
    var query = Self.hotRooms
    query.limit = 2
    try await Self.run(query) { views in
      for id in 1...40 {
        _ = try await views.cost { transaction in
          try transaction.set(Hall(id: id, name: "\(100 - id)"))
          try transaction.set(Self.reading(id, id, 80))
        }
      }
      for id in (1...40).reversed() {
        _ = try await views.cost { try $0.set(Self.reading(id, id, 10)) }
      }
    }
  }

  /// Keeps the effects of writes.
  private final class Effects: CommitFollower {
    let received = Locked<[CommitEffects]>([])

    func receive(_ flush: [CommitEffects]) { received.withLock { $0 += flush } }
    func afterReceived(_ body: @escaping @Sendable () -> Void) { body() }
    func othersMayHaveCommitted() {}
    func storeWasReplaced(by number: UInt64) {}
    func storeCloses() {}
  }

  @Test func `an untouched entity is read in the version of the write only`() async throws {
    try await Following.run { following in
      let effects = Effects()
      following.store.feed.add(effects)
      try await following.store.write { try $0.set(Hall(id: 1, name: "old")) }
      try await following.store.write { try $0.set(Self.reading(1, 1, 80)) }
      let write = try #require(effects.received.withLock { $0.last })
      let touched = TouchedNodes(write)
      func name(_ touched: TouchedNodes) -> String? {
        touched.untouched(ByteString(Hall.key(1).rawValue), as: Hall.self, in: following.store)??
          .entity.name
      }
      #expect(name(touched) == "old")
      try await following.store.write { try $0.set(Hall(id: 1, name: "new")) }
      #expect(name(touched) == nil)
    }
  }

  @Test(arguments: seeds(4))
  func `random writes one by one are shown as the store answers`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let most = Int.random(in: 1...3, using: &random)
    var query = Query<Hall>(
      filter: .has(Self.hot, by: \.room, atLeast: most)
        || .has(Query(filter: \Sample.degrees < 40), by: \.room),
      order: [.ascending(\.name), .ascending(\.id)])
    if seed.isMultiple(of: 2) { query.limit = 3 }
    try await Self.run(query) { views in
      var snapshots = 0
      for _ in 0..<200 {
        let changes = random.next()
        let cost = try await views.cost { transaction in
          var random = SeededGenerator(seed: changes)
          for _ in 0..<([1, 1, 1, 1, 3].randomElement(using: &random) ?? 1) {
            try Self.change(&transaction, &random)
          }
        }
        snapshots += cost.snapshots
      }
      #expect(snapshots < 200)
    }
  }

  private static func change(
    _ transaction: inout ModelTransaction, _ random: inout SeededGenerator
  ) throws {
    func number() -> Int { Int.random(in: 0..<8, using: &random) }
    switch Int.random(in: 0..<10, using: &random) {
    case 0: try transaction.deleteIfPresent(Hall.key(number()))
    case 1: try transaction.deleteIfPresent(Sample.key(number()))
    case 2: try transaction.set(Hall(id: number(), name: "\(number() % 3)"))
    default:
      let others = (0..<(number() % 3)).map { _ in Hall.key(number()) }
      try transaction.set(
        Sample(
          id: number(), room: Hall.key(number()), others: number() < 6 ? [] : others,
          degrees: 10 * number() + 20))
    }
  }
}
