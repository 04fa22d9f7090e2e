import PandoFixtures
import PandoModels
import PandoStore
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

/// A window holds, after any changes, what a new window over the same entities holds.
@Suite struct QueryWindowTests {
  /// Queries whose windows are short and long, ordered by values, by natural order and by name.
  enum Kind: CaseIterable {
    case ties, natural, limited, longLimited, unique, named

    var query: Query<Track> {
      let jazz = \Track.genre == "jazz"
      switch self {
      case .ties: return Query(filter: jazz, order: [.descending(\.year)])
      case .natural: return Query(filter: jazz)
      case .limited: return Query(order: [.ascending(\.year)], offset: 5, limit: 20)
      case .longLimited: return Query(order: [.ascending(\.year)], offset: 5, limit: 400)
      case .unique: return Query(order: [.ascending(\.year)], uniqueBy: [QueryField(\.title)])
      case .named: return Query(ids: (0..<500).map { .remote($0 * 2) })
      }
    }
  }

  /// Entities by number, and what a store would answer.
  private struct World {
    var tracks: [Int: Track] = [:]

    func answer(to query: Query<Track>) throws -> [Track] {
      try query.apply(to: tracks.sorted { $0.key < $1.key }.map(\.value)).entities
    }

    func window(_ followed: AcceptedQuery<Track>) throws -> QueryWindow<Track> {
      let ranks = Dictionary(uniqueKeysWithValues: tracks.map { ($1.id, UInt64($0)) })
      return QueryWindow(
        followed,
        filledWith: try answer(to: followed.stored).map {
          RankedEntity($0, rank: ranks[$0.id] ?? .max)
        })
    }

    /// Changes some entities: new values, gone, or back again.
    mutating func change(
      _ count: Int, removing share: Double, _ random: inout SeededGenerator
    ) -> [EntityChange<Track>] {
      let numbers = Set((0..<count).map { _ in Int.random(in: 0..<1_200, using: &random) })
      return numbers.sorted().map { number in
        if Double.random(in: 0..<1, using: &random) < share {
          tracks[number] = nil
          return EntityChange(ByteString("Track:\(number)"), nil)
        }
        let track = Track.random(number, &random)
        tracks[number] = track
        return EntityChange(
          ByteString("Track:\(number)"), RankedEntity(track, rank: UInt64(number)))
      }
    }
  }

  @Test(arguments: Kind.allCases, seeds(2))
  func `changes lead to what the store would answer`(kind: Kind, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let followed = AcceptedQuery(kind.query)
    var world = World()
    // Windows that begin with few entities overflow later.
    for number in 0..<(seed % 2 == 0 ? 1_000 : 10) {
      world.tracks[number] = .random(number, &random)
    }
    var window = try world.window(followed)
    // A window that is kept by somebody, and that changes come to after those of the others.
    var former = (window, world)
    for step in 0..<steps(60) {
      if step % 10 == 9 {
        swap(&former.0, &window)
        swap(&former.1, &world)
      }
      let count = [1, 3, 20, 300][Int.random(in: 0..<4, using: &random)]
      // There are more and more entities for a while, then fewer and fewer.
      let share = step % 20 < 8 ? 0.2 : 0.9
      if window.apply(world.change(count, removing: share, &random)) == .exhausted {
        window = try world.window(followed)
      }
      #expect(try window.shown == world.answer(to: followed.query))
      for number in 0..<1_200 where number % 97 == 0 {
        let identifier = ByteString("Track:\(number)")
        #expect(window.contains(identifier) == window.identifiers.contains(identifier))
      }
      if step % 7 == 0 { former = (window, world) }
    }
  }

  @Test(arguments: [10, 1_000])
  func `a kept entity is found under its present identifier only`(count: Int) {
    let tracks = (0..<count).map { RankedEntity(Track($0), rank: UInt64($0)) }
    var window = QueryWindow(AcceptedQuery(Query<Track>()), filledWith: tracks)
    let old = ByteString("Track:3")
    #expect(window.contains(old))
    let renamed = RankedEntity(Track(5_000), rank: 3)
    #expect(window.apply([EntityChange(old, renamed)]) == .changed)
    #expect(!window.contains(old) && window.contains(renamed.identifier))
    #expect(window.apply([EntityChange(renamed.identifier, nil)]) == .changed)
    #expect(!window.contains(renamed.identifier) && window.shown.count == count - 1)
  }
}

extension Track {
  fileprivate static func random(_ number: Int, _ random: inout SeededGenerator) -> Track {
    Track(
      number, "title \(Int.random(in: 0..<700, using: &random))",
      genre: Int.random(in: 0..<3, using: &random) == 0 ? "rock" : "jazz",
      year: Int.random(in: 1_990..<2_010, using: &random))
  }
}
