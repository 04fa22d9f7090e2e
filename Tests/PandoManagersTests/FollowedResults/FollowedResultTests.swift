import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

@Suite struct FollowedResultTests {
  private let jazz = Query(filter: \Track.genre == "jazz")

  @Test func `a change in a child lets in what no shown entity is like`() async throws {
    try await Following.run { following in
      var held = Track(2)
      held.artist = Artist(id: "a", name: "Bo")
      try await following.set(Track(1, year: 5), held)
      let query = Query(filter: \Track.year == 5 || \.artist?.name == "Ada")
      var results = following.query(query).makeAsyncIterator()
      try await expectNext(&results, [Track(1, year: 5)])
      try await following.store.write { try $0.set(Artist(id: "a", name: "Ada")) }
      try await following.set(Track(3, year: 5))
      let ids = try await results.next()?.entities.map(\.id)
      #expect(ids?.contains(.remote(2)) == true)
    }
  }

  @Test func `first the present value, then only different ones`() async throws {
    try await Following.run { following in
      try await following.set(Track(1, "A", genre: "jazz"))
      var values = following.query(jazz).makeAsyncIterator()
      try await expectNext(&values, [Track(1, "A", genre: "jazz")])
      // The same again is no commit; another genre does not show; then something does.
      try await following.set(Track(1, "A", genre: "jazz"))
      try await following.set(Track(2, "B", genre: "rock"))
      try await following.set(Track(1, "A2", genre: "jazz"))
      try await expectNext(&values, [Track(1, "A2", genre: "jazz")])
    }
  }

  @Test func `a slow observer gets the newest value, and one that came back to it none`()
    async throws
  {
    try await Following.run { following in
      var values = following.query(jazz).makeAsyncIterator()
      try await expectNext(&values, [])
      for number in 1...20 { try await following.set(Track(number, genre: "jazz")) }
      let all = (1...20).map { Track($0, genre: "jazz") }
      try await expectNext(&values, all)
      try await following.set(Track(7, "changed", genre: "jazz"))
      try await following.set(Track(7, genre: "jazz"))
      try await following.delete(20)
      try await expectNext(&values, Array(all.dropLast()))
    }
  }

  @Test func `a query is freed with its last observer`() async throws {
    try await Following.run { following in
      let sequence = following.query(jazz)
      #expect(following.hub.viewCount == 0)
      var first: FollowedSequence<QueryResult<Track>>.AsyncIterator? =
        sequence.makeAsyncIterator()
      var second: FollowedSequence<QueryResult<Track>>.AsyncIterator? =
        sequence.makeAsyncIterator()
      _ = try await first?.next()
      _ = try await second?.next()
      #expect(following.hub.viewCount == 1 && following.scope.count == 1)
      first = nil
      #expect(following.hub.viewCount == 1)
      second = nil
      await following.allGone()
    }
  }

  @Test func `a cancelled observer ends, and leaves nothing behind`() async throws {
    try await Following.run { following in
      let sequence = following.query(jazz)
      let hasBegun = Locked(false)
      let task = Task {
        for try await _ in sequence { hasBegun.withLock { $0 = true } }
      }
      while !hasBegun.withLock({ $0 }) { await Task.yield() }
      task.cancel()
      try await task.value
      await following.allGone()
    }
  }

  @Test func `an entity that comes to match enters, one that no longer matches leaves`()
    async throws
  {
    try await Following.run { following in
      try await following.set(Track(1, genre: "jazz"), Track(2, genre: "rock"))
      var values = following.query(jazz).makeAsyncIterator()
      try await expectNext(&values, [Track(1, genre: "jazz")])
      try await following.set(Track(2, genre: "jazz"))
      try await expectNext(&values, [Track(1, genre: "jazz"), Track(2, genre: "jazz")])
      try await following.set(Track(1, genre: "rock"))
      try await expectNext(&values, [Track(2, genre: "jazz")])
      try await following.delete(2)
      try await expectNext(&values, [])
    }
  }

  @Test func `the window of a query with offset and limit is filled again when it runs dry`()
    async throws
  {
    try await Following.run { following in
      for number in 1...100 { try await following.set(Track(number, year: number)) }
      let query = Query<Track>(order: [.descending(\.year)], offset: 2, limit: 3)
      var values = following.query(query).makeAsyncIterator()
      try await expectNext(&values, [98, 97, 96].map { Track($0, year: $0) })
      var top = 100
      while top > 20 {
        try await following.delete(top)
        top -= 1
        try await expectNext(&values, [2, 3, 4].map { Track(top - $0, year: top - $0) })
      }
      #expect(following.hub.tally.refills > 0)
      #expect(following.hub.tally.refills < 20)
    }
  }

  @Test func `the users of a store share a hub, which goes with the last of them`() throws {
    let store = try ModelStore.temporary(configuration: Following.configuration)
    var first: StoreHub? = try StoreHub.hub(of: store)
    weak let gone = first
    var second: StoreHub? = try StoreHub.hub(of: store)
    #expect(second === first)
    first = nil
    #expect(gone != nil)
    second = nil
    #expect(gone == nil)
    store.close()
  }

  @Test func `identifiers are followed whether they are there or not`() async throws {
    try await Following.run { following in
      let ids: [EntityIdentifier<Track>] = [.remote(3), .remote(1)]
      var values = following.query(Query(filter: .ids(ids))).makeAsyncIterator()
      try await expectNext(&values, [])
      try await following.set(Track(1))
      try await expectNext(&values, [Track(1)])
      try await following.set(Track(2))
      try await following.set(Track(3))
      let both = try await values.next()?.entities.map(\.id)
      #expect(both.map { Set($0) } == Set(ids))
      try await following.delete(1)
      try await expectNext(&values, [Track(3)])
    }
  }

  @Test func `the first entity comes again only when it is another one`() async throws {
    try await Following.run { following in
      let query = Query<Track>(order: [.ascending(\.year)])
      var first = following.query(query).first.makeAsyncIterator()
      #expect(try await first.next() == .some(nil))
      try await following.set(Track(1, year: 5))
      #expect(try await first.next() == Track(1, year: 5))
      try await following.set(Track(2, year: 6))
      try await following.set(Track(3, year: 4))
      #expect(try await first.next() == Track(3, year: 4))
    }
  }

  @Test func `changes lead from each result to the next, with the writer's context`() async throws {
    try await Following.run { following in
      try await following.set(Track(1, year: 1), Track(2, year: 2), Track(3, year: 3))
      let query = Query<Track>(order: [.ascending(\.year)])
      var changes = following.query(query).changes.makeAsyncIterator()
      let first = try await changes.next()
      #expect(first?.change == .reset && first?.context == nil)
      try await following.store.write(context: "a tap") { try $0.set(Track(1, year: 9)) }
      let moved = try await changes.next()
      #expect(moved?.change == .changes([.move(from: 0, to: 2), .update(index: 2)]))
      #expect(moved?.context as? String == "a tap")
      try await following.delete(2)
      try await following.set(Track(4, year: 0))
      let both = try await changes.next()
      #expect(both?.change == .changes([.delete(index: 0), .insert(index: 0)]))
      #expect(both?.result.entities.map(\.year) == [0, 3, 9])
    }
  }

  @Test(arguments: [nil, 10])
  func `a change names its commit, who made it, and the fields that differ`(
    limit: Int?
  ) async throws {
    try await Following.run { following in
      try await following.set(Track(1, "A", year: 1), Track(2, "B", year: 2))
      let query = Query<Track>(order: [.ascending(\.year)], limit: limit)
      var changes = following.query(query).changes.makeAsyncIterator()
      let first = try await changes.next()
      let present = try await following.store.read { try $0.commitNumber }
      #expect(first?.commit == present && first?.author == nil)
      #expect(first?.updatedFields(at: 0) == [])
      var guest = Track(1, "C", year: 9)
      guest.guests = [Artist(id: "a", name: "Ada")]
      try await following.set(guest, Track(3, "D", year: 5))
      let second = try await changes.next()
      let commits = try await following.store.read { try $0.changes(since: present) }
      let made = try #require(commits.first)
      #expect(second?.commit == made.commitNumber)
      #expect(second?.author == made.author && made.author != nil)
      #expect(second?.updatedFields(at: 2) == ["title", "year", "guests[].name"])
      // The untouched one, the new one, and none.
      #expect([0, 1, 3, -1].allSatisfy { second?.updatedFields(at: $0) == [] })
    }
  }

  /// The entities of a refill were not noted as holders, so the change of their child passed.
  @Test func `a change in a child of an entity that came with a refill is shown`() async throws {
    try await Following.run { following in
      try await following.store.write { transaction in
        for number in 0..<30 {
          var track = Track(number, year: number)
          if number > 8 { track.guests = [Artist(id: "a", name: "Ada")] }
          try transaction.set(track)
        }
      }
      let first = Query<Track>(order: [.ascending(\.year)], limit: 1)
      var values = following.query(first).makeAsyncIterator()
      #expect(try await values.next()?.first?.year == 0)
      try await following.store.write { transaction in
        for number in 0..<9 { try transaction.delete("Track:\(number)") }
      }
      #expect(try await values.next()?.first?.guests.first?.name == "Ada")
      try await following.store.write { try $0.set(Artist(id: "a", name: "Bo")) }
      #expect(try await values.next()?.first?.guests.first?.name == "Bo")
    }
  }

  @Test func `a second iteration begins without an author`() async throws {
    try await Following.run { following in
      let query = following.query(Query<Track>.all)
      var first = query.changes.makeAsyncIterator()
      _ = try await first.next()
      try await following.set(Track(1))
      #expect(try await first.next()?.author != nil)
      var second = query.changes.makeAsyncIterator()
      let begun = try await second.next()
      #expect(begun?.change == .reset && begun?.author == nil && begun?.context == nil)
    }
  }

  @Test func `a plan says how changes find a query, and what it keeps`() throws {
    func plan(_ query: Query<Track>) throws -> String {
      try ModelStore.temporary().follow(query).plan.description
    }
    #expect(
      try plan(Query(filter: \.genre == "jazz" && \.year > 3))
        == "Track: found by a value of genre; keeps all matches")
    #expect(
      try plan(Query(filter: \.year > 3 || .hasPrefix(\.title, "A"), limit: 20))
        == "Track: found by a range of title or year; keeps at most 40 entities")
    #expect(
      try plan(Query(order: [.descending(\.year)], offset: 100, limit: 20))
        == "Track: found by a value of year that is not behind the last; keeps at most 140 entities"
    )
    #expect(try plan(.all) == "Track: found by each change of the type; keeps all matches")
    #expect(
      try plan(Query(filter: .ids([.remote(1), .remote(2)])))
        == "Track: found by 2 identifiers; keeps all matches; reads its result again after a change"
    )
    #expect(
      try plan(Query(filter: .held(by: "List:1")))
        == "Track: found by each change of any node; keeps all matches; "
        + "reads its result again after a change")
  }

  @Test func `keys come in order, and only when they change`() async throws {
    try await Following.run { following in
      try await following.set(Track(1, year: 1), Track(2, year: 2), Track(3, year: 3))
      let query = Query<Track>(order: [.ascending(\.year)])
      var steps = following.query(query).keys.makeAsyncIterator()
      let first = try await steps.next()
      #expect(first?.change == .reset && first?.keys.map(\.rawValue) == names(1, 2, 3))
      #expect(first?.commit == (try await following.store.read { try $0.commitNumber }))
      // Its contents change, and not its place.
      try await following.set(Track(2, "B", year: 2))
      try await following.set(Track(1, year: 9))
      let moved = try await steps.next()
      #expect(moved?.change == .changes([.move(from: 0, to: 2)]))
      #expect(moved?.keys(in: 1..<9).map(\.rawValue) == names(3, 1) && moved?.count == 3)
      try await following.delete(3)
      try await following.set(Track(4, year: 0))
      let last = try await steps.next()
      #expect(last?.change == .changes([.delete(index: 1), .insert(index: 0)]))
      #expect(last?.keys.map(\.rawValue) == names(4, 2, 1))
    }
  }

  private func names(_ numbers: Int...) -> [String] { numbers.map { "Track:\($0)" } }

  @Test(arguments: seeds(2))
  func `keys are those of the naive result after every commit`(seed: UInt64) async throws {
    try await Following.run { following in
      var random = SeededGenerator(seed: seed)
      var all: [Int: Track] = [:]
      let queries: [Query<Track>] = [
        Query(filter: \.year > 2, order: [.descending(\.title), .ascending(\.year)]),
        Query(filter: \.genre == "jazz", order: [.ascending(\.year)], offset: 3, limit: 5),
        Query(order: [.ascending(\.title)], offset: 10),
        Query(filter: .ids([.remote(3), .remote(8)])),
        Query(order: [.ascending(\.year)], uniqueBy: [.field(\.year)]),
      ]
      var followed = queries.map {
        (query: $0, steps: following.query($0).keys.makeAsyncIterator())
      }
      var shown: [[String]?] = queries.map { _ in nil }
      for _ in 0..<100 {
        // Their identifiers are in the order in which they were inserted.
        let number = Int.random(in: 0..<40, using: &random)
        let count = all.count
        if number >= count {
          all[count] = track(count, &random)
        } else {
          all[number] = track(number, &random)
        }
        let changed = try #require(all[min(number, count)])
        try await following.set(changed)
        let present = all.values.sorted { $0.modelIdentifier ?? "" < $1.modelIdentifier ?? "" }
          .sorted { ($0.id.remoteID ?? 0) < ($1.id.remoteID ?? 0) }
        for index in followed.indices {
          let expected = try followed[index].query.apply(to: present).entities
            .compactMap(\.modelIdentifier)
          if expected == shown[index] { continue }
          let step = try #require(try await followed[index].steps.next())
          #expect(step.keys.map(\.rawValue) == expected, "seed \(seed), \(followed[index].query)")
          shown[index] = expected
        }
      }
    }
  }

  private func track(_ number: Int, _ random: inout SeededGenerator) -> Track {
    Track(
      number, ["A", "B", "C"].randomElement(using: &random) ?? "",
      genre: ["jazz", "rock"].randomElement(using: &random) ?? "",
      year: Int.random(in: 0..<6, using: &random))
  }

  @Test func `a query that keeps many models is reported once, and one of keys is not`()
    async throws
  {
    try await Following.run { following in
      try await following.store.write { transaction in
        for number in 0...10_000 { try transaction.set(Track(number)) }
      }
      let reports = Locked<[String]>([])
      let query = following.query(Query<Track>()) { event in
        reports.withLock { $0.append("\(event)") }
      }
      var keys = query.keys.makeAsyncIterator()
      #expect(try await keys.next()?.count == 10_001)
      #expect(reports.withLock { $0 } == [])
      var values = query.makeAsyncIterator()
      _ = try await values.next()
      try await following.set(Track(4, "B"))
      _ = try await values.next()
      let told = reports.withLock { $0 }
      #expect(told.count == 1)
      #expect(
        told.first?.hasPrefix("Track: longResult: a followed query keeps 10001 models: ") == true)
    }
  }

  @Test func `groups and uniqueness hold after each change`() async throws {
    try await Following.run { following in
      let unique = Query<Track>(groupedBy: .field(\.genre), uniqueBy: [.field(\.year)])
      var values = following.query(unique).makeAsyncIterator()
      try await expectNext(&values, [])
      try await following.set(
        Track(1, genre: "a", year: 1), Track(2, genre: "b", year: 1), Track(3, genre: "b", year: 2))
      let result = try await values.next()
      #expect(result?.entities.map(\.id) == [.remote(1), .remote(3)])
      #expect(result?.groups.map(\.value) == [.string("a"), .string("b")])
      // The second was hidden by the first.
      try await following.delete(1)
      #expect(try await values.next()?.entities.map(\.id) == [.remote(2), .remote(3)])
    }
  }

  @Test func `a change inside an entity changes it`() async throws {
    try await Following.run { following in
      var track = Track(1, genre: "jazz")
      track.artist = Artist(id: "a", name: "Ada")
      try await following.set(track)
      var values = following.query(jazz).makeAsyncIterator()
      try await expectNext(&values, [track])
      try await following.store.write { try $0.set(Artist(id: "a", name: "Grace")) }
      track.artist?.name = "Grace"
      try await expectNext(&values, [track])
      try await following.store.write { try $0.deleteIfPresent("Artist:a") }
      track.artist = nil
      try await expectNext(&values, [track])
    }
  }

  @Test func `an entity that the contract refuses is not shown`() async throws {
    try await Following.run { following in
      let contract = ClosureContract<Track> { track, _ in !track.title.isEmpty }
      let query = Query<Track>(order: [.ascending(\.year)], limit: 2)
      var values = following.query(query, contract: contract).makeAsyncIterator()
      try await expectNext(&values, [])
      for year in 1...5 { try await following.set(Track(year, "", year: year)) }
      try await following.set(Track(4, "D", year: 4))
      try await expectNext(&values, [Track(4, "D", year: 4)])
      try await following.set(Track(3, "C", year: 3), Track(5, "E", year: 5))
      try await expectNext(&values, [Track(3, "C", year: 3), Track(4, "D", year: 4)])
    }
  }

  @Test func `without access a result is empty`() async throws {
    try await Following.run { following in
      let access = Access()
      try await following.set(Track(1))
      var values = following.query(Query<Track>(), validator: access).makeAsyncIterator()
      try await expectNext(&values, [Track(1)])
      access.present.withLock { $0 = .none }
      try await following.set(Track(2))
      try await expectNext(&values, [])
      access.present.withLock { $0 = UserAccess(.local, user: "somebody else") }
      try await following.set(Track(3))
      access.present.withLock { $0 = UserAccess(.local, user: "Ada") }
      try await following.set(Track(4))
      try await expectNext(&values, (1...4).map { Track($0) })
    }
  }
}

/// An access that a test changes.
private final class Access: UserAccessValidating {
  let present = Locked(UserAccess(.local, user: "Ada"))

  var userAccess: UserAccess { present.withLock { $0 } }
}
