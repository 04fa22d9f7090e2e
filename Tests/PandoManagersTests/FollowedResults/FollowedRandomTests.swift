import PandoFixtures
import PandoStore
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

/// Followed queries beside the naive filter over an array, after every commit.
@Suite struct FollowedRandomTests {
  /// A followed query of a test, with its last result.
  private struct Observer {
    let query: Query<Track>
    var values: FollowedSequence<QueryResult<Track>>.AsyncIterator
    var last: QueryResult<Track>?
  }

  @Test(arguments: seeds(2))
  func `every result is the naive one after every commit`(seed: UInt64) async throws {
    try await Following.run { following in
      // With indexes and without.
      if seed.isMultiple(of: 2) { try following.store.addIndexes(of: [Track.self]) }
      var random = SeededGenerator(seed: seed)
      var all: [Track] = []
      var artists = (0..<3).map { Artist(id: "\($0)", name: "a") }
      var observers: [Observer] = []
      for step in 0..<150 {
        if observers.count < 12 || step.isMultiple(of: 20) {
          let query = randomQuery(&random)
          let values = following.query(query).makeAsyncIterator()
          observers.append(Observer(query: query, values: values))
          if observers.count > 16 { observers.removeFirst() }
        }
        try await commit(&all, &artists, following, &random)
        for index in observers.indices {
          let expected = try observers[index].query.apply(to: all)
          if expected == observers[index].last { continue }
          let actual = try await observers[index].values.next()
          try #require(
            actual == expected, "seed \(seed), step \(step), \(observers[index].query)")
          observers[index].last = expected
        }
      }
    }
  }

  /// Commits some changes, few or many, of entities in natural order.
  private func commit(
    _ all: inout [Track], _ artists: inout [Artist], _ following: Following,
    _ random: inout SeededGenerator
  ) async throws {
    // One in four changes an artist alone, and all tracks that hold it.
    if Int.random(in: 0..<4, using: &random) == 0 {
      let number = Int.random(in: 0..<3, using: &random)
      artists[number].name = ["a", "b", "c"].randomElement(using: &random) ?? ""
      let artist = artists[number]
      for index in all.indices {
        if all[index].artist?.id == artist.id { all[index].artist = artist }
        all[index].guests = all[index].guests.map { $0.id == artist.id ? artist : $0 }
      }
      try await following.store.write { try $0.set(artist) }
      return
    }
    var sets: [Track] = []
    var deletes: [Int] = []
    for _ in 0..<([1, 1, 2, 3, 30].randomElement(using: &random) ?? 1) {
      let number = Int.random(in: 0..<40, using: &random)
      let index = all.firstIndex { $0.id == .remote(number) }
      if let index, Int.random(in: 0..<3, using: &random) == 0 {
        all.remove(at: index)
        sets.removeAll { $0.id == .remote(number) }
        // What came in with this commit is not deleted by it: its place would be another one.
        deletes.append(number)
      } else if !deletes.contains(number) {
        var track = Track(
          number, ["A", "B", "C"].randomElement(using: &random) ?? "",
          genre: ["jazz", "rock", "folk"].randomElement(using: &random) ?? "",
          year: Int.random(in: 0..<6, using: &random))
        if Bool.random(using: &random) { track.artist = artists.randomElement(using: &random) }
        track.guests = Array(artists.prefix(Int.random(in: 0..<3, using: &random)))
        if let index { all[index] = track } else { all.append(track) }
        sets.removeAll { $0.id == track.id }
        sets.append(track)
      }
    }
    let (changed, gone) = (inOrder(sets, of: all), deletes)
    try await following.store.write { transaction in
      for number in gone { try transaction.deleteIfPresent("Track:\(number)") }
      for track in changed { try transaction.set(track) }
    }
  }

  /// Entities in the order in which they stand in a list.
  private func inOrder(_ tracks: [Track], of all: [Track]) -> [Track] {
    all.filter { track in tracks.contains { $0.id == track.id } }
  }

  private func randomQuery(_ random: inout SeededGenerator) -> Query<Track> {
    var query = Query<Track>()
    let filters: [Filter<Track>] = [
      .all, \.genre == "jazz", \.genre == "rock" && \.year > 2, \.year < 3 || \.title == "A",
      !(\.title == "B"), \.year >> [1, 2, 3], \.title ~= "^[AB]",
      .ids([.remote(3), .remote(30), .remote(12), .remote(7)]), \.id == .remote(5),
      \.artist?.name == "b", \.artist?.name == nil, .holds(\.artist, "Artist:1"),
      .contains(\.guests, \.name, "b"), .holds(\.guests, "Artist:0") && \.genre == "rock",
      .holds("Artist:2"), !.contains(\.guests, \.name, "c"), .hasPrefix(\.title, "A"),
      \.year >= 2 && \.year < 4, \.genre == "jazz" || .hasPrefix(\.title, "B"),
      \.artist?.name >= "b", \.artist?.name == "a" || \.year == 4 || \.genre > "k",
      .contains(\.guests, \.name, "a") && \.year <= 3,
      .isIn(\.genre, ["folk", "rock"]) && \.year > 1,
    ]
    query.filter = filters.randomElement(using: &random) ?? .all
    let orders: [[QueryOrder<Track>]] = [
      [], [.ascending(\.year)], [.descending(\.year), .ascending(\.title)], [.descending(\.title)],
      [.descending(\.artist?.name)], [.ascending(\.genre), .natural, .ascending(\.year)],
      [.identifiers([.remote(9), .remote(2), .remote(33)])],
    ]
    query.order = orders.randomElement(using: &random) ?? []
    if Int.random(in: 0..<5, using: &random) == 0 { query.groupedBy = .field(\.genre) }
    if Int.random(in: 0..<6, using: &random) == 0 { query.uniqueBy = [.field(\.year)] }
    if Bool.random(using: &random) { query.limit = Int.random(in: 0..<6, using: &random) }
    if Bool.random(using: &random) { query.offset = Int.random(in: 0..<4, using: &random) }
    return query
  }
}
