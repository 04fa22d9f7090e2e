import PandoManagers
import PandoModels

/// A piece of music, for queries that are followed.
struct Track: PersistentEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Track>
  var title: String
  var genre = "none"
  var year = 2000
  /// A node of its own inside the track.
  var artist: Artist?
  var guests: [Artist] = []

  static let fields: [Field<Track>] = [
    .indexed(\.genre, "genre"), .field(\.title, "title"), .field(\.year, "year"),
    .indexed(\.artist?.name), .field(.child(\.artist)), .indexed(.each(\.guests, \.name)),
  ]

  init(_ id: Int, _ title: String = "", genre: String = "none", year: Int = 2000) {
    self.id = .remote(id)
    self.title = title
    self.genre = genre
    self.year = year
  }
}

/// Who made a track: a model, and no entity.
struct Artist: Model, Codable, Equatable {
  var id: String
  var name: String

  var modelIdentifier: String? { "Artist:\(id)" }
}

/// Something else in the same store.
struct Place: PersistentEntity {
  var id: EntityIdentifier<Place>
  var name: String
}
