import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

/// The index that finds followers by the values of a changed entity.
@Suite struct FilterIndexTests {
  private static func filter(_ random: inout SeededGenerator, depth: Int = 2) -> Filter<Track> {
    let year = Int.random(in: 0..<12, using: &random)
    let text = ["a", "ab", "b", "c", "\u{D7FF}"].randomElement(using: &random) ?? ""
    switch Int.random(in: 0..<(depth > 0 ? 12 : 9), using: &random) {
    case 0: return \.year == year
    case 1: return \.year < year
    case 2: return \.year >= year
    case 3: return .isIn(\.year, [year, year + 3])
    case 4: return .hasPrefix(\.title, text)
    case 5: return \.genre == text
    case 6: return \.artist?.name >= text
    case 7: return .contains(\.guests, \.name, text)
    case 8: return !(\.year == year)
    case 9: return filter(&random, depth: depth - 1) || filter(&random, depth: depth - 1)
    default: return filter(&random, depth: depth - 1) && filter(&random, depth: depth - 1)
    }
  }

  private static func track(_ random: inout SeededGenerator) -> Track {
    let texts = ["a", "abc", "b", "bc", "d", "\u{D7FF}\u{E000}"]
    var track = Track(
      1, texts.randomElement(using: &random) ?? "",
      genre: texts.randomElement(using: &random) ?? "",
      year: Int.random(in: -1..<14, using: &random))
    func artist() -> Artist { Artist(id: "x", name: texts.randomElement(using: &random) ?? "") }
    if Bool.random(using: &random) { track.artist = artist() }
    track.guests = (0..<Int.random(in: 0..<3, using: &random)).map { _ in artist() }
    return track
  }

  private static func found(_ track: Track, _ index: FilterIndex) -> Set<UInt64> {
    var values: [FieldValue] = []
    track.appendValues(of: Track.fields.filter { index.fields.contains($0.name) }, to: &values)
    var numbers: Set<UInt64> = []
    index.find(values, into: &numbers)
    #expect(index.takesAll || index.findsAny(values) == !numbers.isEmpty)
    return numbers
  }

  @Test(arguments: seeds(8))
  func `an entity finds every follower whose filter it meets`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var index = FilterIndex()
    var followers: [UInt64: Filter<Track>] = [:]
    for number in 0..<UInt64(150) {
      let filter = Self.filter(&random)
      followers[number] = filter
      index.insert(number, AcceptedQuery(Query(filter: filter)).key)
      if number % 5 == 4, let gone = followers.keys.randomElement(using: &random) {
        followers[gone] = nil
        index.remove(gone)
      }
      if number % 7 == 6, let broad = followers.keys.randomElement(using: &random) {
        index.setTakesAll(Bool.random(using: &random), of: broad)
      }
      index.checkInvariants(Set(followers.keys))
      let track = Self.track(&random)
      let found = Self.found(track, index)
      for (number, filter) in followers where filter.accepts(track) {
        #expect(found.contains(number), "\(filter) is not found by \(track)")
      }
    }
    for number in followers.keys { index.remove(number) }
    #expect(index.isEmpty && index.fields.isEmpty && !index.takesAll)
  }

  /// An entity with a property that calls a closure when it is read.
  private struct Probe: Model, Codable, Equatable, Queryable {
    static let whenRead = Locked<(@Sendable () -> Void)?>(nil)
    var id: Int
    var modelIdentifier: String? { "Probe:\(id)" }
    var title: String { "t" }
    var genre: String {
      Self.whenRead.withLock { $0.take() }?()
      return "x"
    }

    static let fields: [Field<Probe>] = [.field(\.genre, "genre"), .field(\.title, "title")]
  }

  /// The follower that moved was found neither by its former field nor by its new one.
  @Test func `a follower that moves to another field while an entity is read is found`() {
    let views = TypeViews<Probe>()
    let shared = AcceptedQuery(Query(filter: \Probe.genre == "x"))
    views.insert(1, AcceptedQuery(Query(filter: \Probe.genre == "x" && \.title == "t")))
    for number in UInt64(2)...31 { views.insert(number, shared) }
    Probe.whenRead.withLock { $0 = { views.insert(32, shared) } }
    var numbers: Set<UInt64> = []
    views.find(Probe(id: 1), into: &numbers)
    #expect(numbers.isSuperset(of: 1...31))
  }

  @Test func `ranges and prefixes are not found by values outside of them`() {
    var index = FilterIndex()
    let queries: [Query<Track>] = [
      Query(filter: \.year > 10 && \.year < 20), Query(filter: .hasPrefix(\.title, "ab")),
      Query(filter: \.genre == "x" || \.year == 5),
    ]
    for (number, query) in queries.enumerated() {
      index.insert(UInt64(number), AcceptedQuery(query).key)
    }
    #expect(Self.found(Track(1, "ad", genre: "y", year: 30), index) == [])
    #expect(Self.found(Track(1, "aa", genre: "y", year: 9), index) == [])
    #expect(Self.found(Track(1, "abc", genre: "x", year: 15), index) == [0, 1, 2])
  }

  @Test func `an order with a limit is found up to its last entity`() {
    var index = FilterIndex()
    index.insert(1, AcceptedQuery(Query<Track>(order: [.descending(\.year)], limit: 2)).key)
    #expect(Self.found(Track(1, year: 3), index) == [1])
    index.setLast(.integer(10), of: 1, widens: false)
    #expect(Self.found(Track(1, year: 9), index) == [])
    #expect(Self.found(Track(1, year: 10), index) == [1])
    // Both count until the next value is shown.
    index.setLast(.integer(20), of: 1, widens: true)
    #expect(Self.found(Track(1, year: 15), index) == [1])
    index.setLast(.integer(20), of: 1, widens: false)
    #expect(Self.found(Track(1, year: 15), index) == [])
    index.setLast(nil, of: 1, widens: true)
    #expect(Self.found(Track(1, year: 1), index) == [1])
  }
}
