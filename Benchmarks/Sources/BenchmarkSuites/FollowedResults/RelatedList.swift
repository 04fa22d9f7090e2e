import Pando

/// A place with readings.
@Model struct Place {
  @Key var id: Int
  var name: String
}

/// A reading that names its place.
@Model struct Reading {
  @Key var id: Int
  var place: Key<Place>
  var degrees: Int
}

/// Places, their readings, and a followed list of the places.
final class RelatedList: @unchecked Sendable {
  // Sendable because one task after another uses it, and each is waited for.

  /// The followed part of each place.
  enum Followed: CaseIterable {
    case none, list, count, first

    var text: String {
      switch self {
      case .none: "nothing"
      case .list: "the places alone"
      case .count: "the sum of the readings of each place"
      case .first: "the highest reading of each place"
      }
    }
  }

  private let models: PandoModels
  private let placeCount: Int
  private var readers: [Task<Void, any Error>] = []

  /// Fills a store: a hundred readings for each place.
  init(_ directory: WorkingDirectory, _ durability: Durability, placeCount: Int) throws {
    models = try PandoModels(directory, durability)
    self.placeCount = placeCount
    try models.put((0..<placeCount).map { Place(id: $0, name: "Place \($0)") })
    try models.put((0..<placeCount * 100).map { reading($0, degrees: $0 % 50) })
  }

  deinit { for reader in readers { reader.cancel() } }

  private func reading(_ number: Int, degrees: Int) -> Reading {
    Reading(id: number, place: Place.key(number % placeCount), degrees: degrees)
  }

  /// Follows the list in a task that takes each change; it has the first result when this returns.
  func follow(_ followed: Followed) throws {
    let places = Query(order: [.ascending(\Place.name)])
    let highest = Query<Reading>(order: [.descending(\.degrees)])
    switch followed {
    case .none: break
    case .list: take(models.store.follow(places))
    case .count:
      take(models.store.follow(places, with: .answer(.sum(\Reading.degrees), by: \.place)))
    case .first: take(models.store.follow(places, with: .first(of: highest, by: \.place)))
    }
  }

  private func take(_ elements: some AsyncSequence<some Sendable, any Error> & Sendable) {
    let (started, waiting) = AsyncStream<Void>.makeStream()
    readers.append(Task { for try await _ in elements { waiting.yield() } })
    waitUntilDone { for await _ in started { break } }
  }

  /// Commits a reading.
  func change(_ number: Int) throws {
    let new = reading(number * 7 % (placeCount * 100), degrees: number % 77)
    try models.store.write { try $0.set(new) }
  }

  /// Returns when the list shows all changes: a write returns when it is stored.
  func waitUntilShown() throws {
    try models.store.write { _ in }
  }
}
