import PandoStore
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

/// The cost of followed queries for commits, in counts.
@Suite struct FollowedCostTests {
  @Test func `a commit of something else reads and evaluates nothing`() async throws {
    try await Following.run { following in
      var values = following.query(Query<Track>()).makeAsyncIterator()
      try await expectNext(&values, [])
      let before = following.hub.tally
      try await following.store.write { try $0.set(Place(id: .remote("x"), name: "Oslo")) }
      try await following.store.write { try $0.append([Track(1)], toCollection: "list") }
      try await following.store.write { try $0.deleteIfPresent("Place:x") }
      // The track that came with the list is the only one that was looked at.
      #expect(following.hub.tally == HubTally(reads: before.reads, evaluations: 1, refills: 0))
    }
  }

  @Test func `a write whose models tell the entities reads none of them`() async throws {
    try await Following.run { following in
      let jazz = Query(filter: \Track.genre == "jazz", order: [.ascending(\.year)])
      var all = following.query(jazz).makeAsyncIterator()
      try await expectNext(&all, [])
      var first = following.query(
        Query(filter: \Track.genre == "jazz", order: [.ascending(\.year)], limit: 1)
      ).makeAsyncIterator()
      try await expectNext(&first, [])
      var count = following.store.follow(.count, of: jazz).makeAsyncIterator()
      #expect(try await count.next() == 0)
      let before = following.hub.tally
      let (early, late) = (
        Track(1, genre: "jazz", year: 1950), Track(2, genre: "jazz", year: 1960)
      )
      try await following.set(late)
      try await following.set(early)
      try await expectNext(&all, [early, late])
      try await expectNext(&first, [early])
      #expect(try await count.next() == 2)
      try await following.set(Track(2, genre: "rock", year: 1960))
      try await following.delete(1)
      try await expectNext(&all, [])
      try await expectNext(&first, [])
      #expect(try await count.next() == 0)
      #expect(following.hub.tally.reads == before.reads)
      #expect(following.hub.tally.refills == before.refills)
    }
  }

  @Test func `a write inside a read of several providers is shown after the read`() async throws {
    try await Following.run { following in
      let manager = try DataModelManager(store: following.store)
      var values = following.query(Query<Track>()).makeAsyncIterator()
      try await expectNext(&values, [])
      try manager.snapshot { _ in
        _ = try following.store.write { try $0.set(Track(1)) }
      }
      try await expectNext(&values, [Track(1)])
      await manager.close()
    }
  }

  @Test(arguments: [true, false])
  func `a query is found by the value that few others ask for, wherever it stands`(
    isFirst: Bool
  ) async throws {
    try await Following.run { following in
      let count = 200
      var iterators: [FollowedSequence<QueryResult<Track>>.AsyncIterator] = []
      for number in 0..<count {
        let (own, shared) = (\Track.genre == "genre \(number)", \Track.year == 1999)
        let query = Query(filter: isFirst ? own && shared : shared && own)
        var iterator = following.query(query).makeAsyncIterator()
        _ = try await iterator.next()
        iterators.append(iterator)
      }
      let before = following.hub.tally
      let track = Track(7, genre: "genre 100", year: 1999)
      try await following.set(track)
      let evaluations = following.hub.tally.evaluations - before.evaluations
      // Its own, and the one that came first and took the value that all share.
      #expect((1...2).contains(evaluations))
      #expect(try await iterators[100].next()?.entities == [track])
    }
  }

  /// It stayed in the index of the query, so its changes were read and evaluated.
  @Test func `an entity that newer ones have moved out of the reserve costs nothing`() async throws
  {
    try await Following.run { following in
      let query = Query<Track>(
        filter: \.genre == "jazz", order: [.descending(\.year)], limit: 1)
      var values = following.query(query).makeAsyncIterator()
      try await expectNext(&values, [])
      for id in 1...30 { try await following.set(Track(id, genre: "jazz", year: 1900 + id)) }
      await following.hub.shown()
      let before = following.hub.tally
      try await following.set(Track(1, genre: "rock", year: 1901))
      await following.hub.shown()
      #expect(following.hub.tally.evaluations == before.evaluations)
      try await following.set(Track(30, genre: "rock", year: 1930))
      await following.hub.shown()
      #expect(following.hub.tally.evaluations == before.evaluations + 1)
      try await expectNext(&values, [Track(29, genre: "jazz", year: 1929)])
    }
  }

  @Test func `where all ask by name, only the named are read of those that hold what has changed`()
    async throws
  {
    try await Following.run { following in
      let tracks = (0..<50).map { number in
        var track = Track(number)
        track.artist = Artist(id: "a", name: "Ada")
        return track
      }
      try await following.store.write { transaction in
        for track in tracks { try transaction.set(track) }
      }
      var named = following.query(Query(filter: \Track.id == .remote(7)))
        .makeAsyncIterator()
      _ = try await named.next()
      let before = following.hub.tally
      try await following.store.write { try $0.set(Artist(id: "a", name: "Bo")) }
      #expect(following.hub.tally.reads == before.reads + 1)
      #expect(try await named.next()?.first?.artist?.name == "Bo")
      var all = following.query(Query<Track>.all).makeAsyncIterator()
      _ = try await all.next()
      try await following.store.write { try $0.set(Artist(id: "a", name: "Cy")) }
      #expect(following.hub.tally.reads == before.reads + 51)
    }
  }

  /// Queries of each form, each concerned by one of many entities.
  private func queries(_ form: Int, _ number: Int) -> Query<Track> {
    let (low, high) = (number * 10, number * 10 + 10)
    return switch form {
    case 0: Query(filter: \.year >= low && \.year < high)
    case 1: Query(filter: .hasPrefix(\.title, "title \(number)."))
    case 2: Query(filter: .isIn(\.year, [low, low + 5, -1]))
    case 3: Query(filter: \.genre == "genre \(number)" || .hasPrefix(\.title, "none \(number)."))
    case 4: Query(filter: \.artist?.name == "artist \(number)")
    case 5: Query(filter: \.year >= low && \.year < high, order: [.descending(\.title)], limit: 3)
    default: Query(order: [.descending(\.year)], limit: 3)
    }
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5])
  func `of many queries of one form a commit costs those that it concerns`(form: Int) async throws {
    try await Following.run { following in
      let count = 200
      var iterators: [FollowedSequence<QueryResult<Track>>.AsyncIterator] = []
      for number in 0..<count {
        var iterator = following.query(queries(form, number)).makeAsyncIterator()
        _ = try await iterator.next()
        iterators.append(iterator)
      }
      func track(_ number: Int) -> Track {
        var track = Track(7, "title \(number).", genre: "genre \(number)", year: number * 10 + 5)
        track.artist = Artist(id: "\(number)", name: "artist \(number)")
        return track
      }
      let before = following.hub.tally
      try await following.set(track(150))
      await following.hub.shown()
      #expect(following.hub.tally.evaluations == before.evaluations + 1)
      #expect(try await iterators[150].next()?.entities == [track(150)])
      // It leaves one and enters another.
      try await following.set(track(20))
      await following.hub.shown()
      #expect(following.hub.tally.evaluations == before.evaluations + 3)
      #expect(try await iterators[150].next()?.entities == [])
      #expect(try await iterators[20].next()?.entities == [track(20)])
    }
  }

  @Test func `an entity behind the last of a query with a limit costs nothing`() async throws {
    try await Following.run { following in
      for id in 1...30 { try await following.set(Track(id, year: 1900 + id)) }
      var iterator = following.query(queries(6, 0)).makeAsyncIterator()
      _ = try await iterator.next()
      var before = following.hub.tally
      try await following.set(Track(40, year: 1905))
      try await following.set(Track(3, year: 1902))
      await following.hub.shown()
      #expect(following.hub.tally == before)
      // As entities leave, the reserve and then the store fill the query again, and older ones enter.
      for id in 11...30 { try await following.delete(id) }
      await following.hub.shown()
      before = following.hub.tally
      try await following.set(Track(40, year: 1906))
      await following.hub.shown()
      #expect(following.hub.tally.evaluations == before.evaluations + 1)
      let last = try await followed(&iterator) { $0.entities.last?.year == 1908 }
      #expect(last.entities.map(\.year) == [1910, 1909, 1908])
    }
  }

  /// The next result of an iteration that satisfies a condition.
  private func followed(
    _ iterator: inout FollowedSequence<QueryResult<Track>>.AsyncIterator,
    _ isRight: (QueryResult<Track>) -> Bool
  ) async throws -> QueryResult<Track> {
    while let result = try await iterator.next() {
      if isRight(result) { return result }
    }
    throw CancellationError()
  }

  @Test func `a query by a range that keeps very many entities is right`() async throws {
    try await Following.run { following in
      let tracks = (0..<10_010).map { Track($0, year: $0) }
      try await following.store.write { transaction in
        for track in tracks { try transaction.set(track) }
      }
      let query = Query(filter: \Track.year >= 0)
      var count = following.store.follow(.count, of: query).makeAsyncIterator()
      var years = following.query(query).makeAsyncIterator()
      #expect(try await count.next() == 10_010)
      #expect(try await years.next()?.count == 10_010)
      try await following.set(Track(4, year: -1))
      #expect(try await count.next() == 10_009)
      #expect(try await years.next()?.count == 10_009)
      try await following.delete(5)
      #expect(try await count.next() == 10_008)
      try await following.set(Track(4, year: 3))
      #expect(try await count.next() == 10_009)
      #expect(try await followed(&years) { $0.count == 10_009 }.entities[4].year == 3)
    }
  }

  @Test func `of ten thousand queries a commit costs those that it concerns`() async throws {
    try await Following.run { following in
      let count = 10_000
      var iterators: [FollowedSequence<QueryResult<Track>>.AsyncIterator] = []
      for number in 0..<count {
        // Half of them look for a value, half for an identifier.
        let query =
          number.isMultiple(of: 2)
          ? Query(filter: \Track.genre == "genre \(number)" && \.year > 0)
          : Query(filter: \Track.id == .remote(number))
        var iterator = following.query(query).makeAsyncIterator()
        _ = try await iterator.next()
        iterators.append(iterator)
      }
      #expect(following.hub.viewCount == count)
      let before = following.hub.tally
      try await following.set(Track(7, genre: "genre 4"))
      var after = following.hub.tally
      #expect(after.reads == before.reads + 1)
      #expect(after.evaluations == before.evaluations + 2)
      #expect(try await iterators[4].next()?.entities == [Track(7, genre: "genre 4")])
      #expect(try await iterators[7].next()?.entities == [Track(7, genre: "genre 4")])
      // It leaves one query of a value and comes into another.
      try await following.set(Track(7, genre: "genre 6"))
      after = following.hub.tally
      #expect(after.evaluations == before.evaluations + 5)
      #expect(try await iterators[4].next()?.entities == [])
      #expect(try await iterators[6].next()?.entities.count == 1)
      iterators = []
      await following.allGone()
    }
  }
}
