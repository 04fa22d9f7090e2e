import PandoFixtures
import PandoModels
import PandoStore
import Testing

/// Queries over records of which some can't be decoded.
@Suite struct UndecodableTests {
  private typealias Change = (inout Query<Track>) -> Void

  @Test(arguments: [false, true])
  func `a query that skips them gives what a store without them gives`(
    withIndexes: Bool
  ) throws {
    let store = try ModelStore.temporary()
    let clean = try ModelStore.temporary()
    defer {
      store.close()
      clean.close()
    }
    if withIndexes {
      for store in [store, clean] { try store.addIndexes(of: [Track.self]) }
    }
    for number in 0..<200 {
      let genre = number % 3 == 0 ? "jazz" : "folk"
      let isBad = number % 7 == 0
      let track = Track(number, "T\(number % 50)", genre: genre, year: 2000 - number)
      // Its year is a text.
      let bad = TreeNode(
        "Track:\(number)", type: "Track",
        fields: [
          "id": .integer(Int64(number)), "title": .string(track.title), "genre": .string(genre),
          "year": "long ago",
        ])
      try store.write { isBad ? try $0.set(bad) : try $0.set(track) }
      if !isBad { try clean.write { try $0.set(track) } }
    }
    let filters: [Filter<Track>] = [
      .all, \.genre == "jazz", \.genre == "jazz" && \.title != "T3", \.year < 1900,
      \.titleCount == 3, \.genre == "folk" && \.titleCount == 2,
      .identifiers((0..<20).map { "Track:\($0)" }), .identifiers(["Track:7"]),
      .identifiers(["Track:8"]),
    ]
    let windows: [Change] = [
      { _ in }, { $0.limit = 5 },
      {
        $0.limit = 5
        $0.offset = 3
      }, { $0.uniqueBy = [.field(\.title)] },
      {
        $0.uniqueBy = [.field(\.title)]
        $0.limit = 4
      },
    ]
    let orders: [[QueryOrder<Track>]] = [
      [], [.descending(\.genre)], [.ascending(\.titleCount), .descending(\.title)],
    ]
    for filter in filters {
      for window in windows {
        for order in orders {
          var query = Query(filter: filter, order: order)
          window(&query)
          let expected = try clean.read { try $0.find(query) }
          let found = try store.read { try $0.find(query.skippingUndecodable) }
          try #require(found == expected, "\(query)")
          let undecodable = Set(found.undecodable.map(\.identifier))
          try #require(undecodable.count == found.undecodable.count)
          try #require(
            undecodable.isSubset(
              of: (0..<200).filter { $0 % 7 == 0 }.map { "Track:\($0)" }), "\(query)")
        }
      }
    }
    #expect(throws: ModelError.self) {
      try store.read { try $0.find(Query<Track>()) }
    }
    let one = try store.read {
      try $0.find(Query<Track>(filter: .identifiers(["Track:7"])).skippingUndecodable)
    }
    #expect(one.undecodable.map(\.identifier) == ["Track:7"])
    #expect(one.undecodable.first?.error.field == "year")
  }

  @Test func `the records of a type that can't be read are listed`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    #expect(try store.undecodable(Track.self).isEmpty)
    try store.write { transaction in
      for number in 0..<5 { try transaction.set(Track(number)) }
      for number in 5..<8 {
        try transaction.set(
          TreeNode("Track:\(number)", type: "Track", fields: ["id": .integer(Int64(number))]))
      }
      // The child is at fault, and still it is the track that can't be read.
      var track = Track(8)
      track.artist = Artist(id: "a", name: "Ann")
      try transaction.set(track)
      try transaction.set(TreeNode("Artist:a", type: "Artist", fields: ["id": "a"]))
    }
    let found = try store.undecodable(Track.self)
    #expect(found.map(\.identifier) == ["Track:5", "Track:6", "Track:7", "Track:8"])
    #expect(found.last?.error.identifier == "Artist:a")
    #expect(
      found.last.map { "\($0)" }?.hasPrefix("Track:8: Artist \"Artist:a\", field name") == true)
    #expect(try store.undecodable(Track.self, limit: 2).count == 2)
    #expect(try store.undecodable(Artist.self).map(\.identifier) == ["Artist:a"])
    #expect(try store.verify().problems == [], "they are sound as records")
    // Plain reads stop at the first of them, or leave them out.
    let listed = [0, 6, 8, 4].map {
      TreeValue.reference(identifier: "Track:\($0)", typeName: "Track")
    }
    try store.write { try $0.setCollection("list", to: listed) }
    try store.read { snapshot in
      #expect(throws: ModelError.self) { try snapshot.forEachModel(of: Track.self) { _ in true } }
      #expect(throws: ModelError.self) { try snapshot.collection("list", as: Track.self) }
      var left: [String] = []
      var count = 0
      try snapshot.forEachModel(
        of: Track.self,
        undecodable: {
          left.append($0.identifier)
          return true
        }
      ) { _ in
        count += 1
        return true
      }
      #expect(count == 5)
      #expect(left == found.map(\.identifier))
      left = []
      let list = try snapshot.collection("list", as: Track.self) { left.append($0.identifier) }
      #expect(list?.map(\.id) == [0, 4])
      #expect(left == ["Track:6", "Track:8"])
    }
  }
}

private struct Track: Model, Codable, Equatable, Queryable {
  var id: Int
  var title: String
  var genre = "none"
  var year = 2000
  /// A node of its own inside the track.
  var artist: Artist?

  var modelIdentifier: String? { "Track:\(id)" }
  /// Not declared: only a decoded track has it.
  var titleCount: Int { title.count }

  static let fields: [Field<Track>] = [
    .indexed(\.genre), .field(\.title), .field(\.year), .indexed(\.artist?.name),
    .field(.child(\.artist)),
  ]

  init(_ id: Int, _ title: String = "", genre: String = "none", year: Int = 2000) {
    self.id = id
    self.title = title
    self.genre = genre
    self.year = year
  }
}

private struct Artist: Model, Codable, Equatable {
  var id: String
  var name: String

  var modelIdentifier: String? { "Artist:\(id)" }
}
