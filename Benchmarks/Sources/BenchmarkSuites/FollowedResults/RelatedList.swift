import Pando

/// A room with readings.
@Model struct MeteredRoom {
  @Key var id: Int
  var name: String
}

/// A reading that names its room.
@Model struct RoomReading {
  @Key var id: Int
  var room: Key<MeteredRoom>
  var degrees: Int
}

/// Rooms, their readings, and a followed list of the rooms.
final class RelatedList: @unchecked Sendable {
  // Sendable because one task after another uses it, and each is waited for.

  /// The followed part of each room.
  enum Followed: CaseIterable {
    case none, list, count, first, has

    var text: String {
      switch self {
      case .none: "nothing"
      case .list: "the rooms alone"
      case .count: "the sum of the readings of each room"
      case .first: "the highest reading of each room"
      case .has: "the rooms with a reading above 70"
      }
    }
  }

  private let models: PandoModels
  private let roomCount: Int
  private var readers: [Task<Void, any Error>] = []

  /// Fills a store: a hundred readings for each room.
  init(_ directory: WorkingDirectory, _ durability: Durability, roomCount: Int) throws {
    models = try PandoModels(directory, durability)
    self.roomCount = roomCount
    try models.put((0..<roomCount).map { MeteredRoom(id: $0, name: "Room \($0)") })
    try models.put((0..<roomCount * 100).map { reading($0, degrees: $0 % 50) })
  }

  deinit { for reader in readers { reader.cancel() } }

  private func reading(_ number: Int, degrees: Int) -> RoomReading {
    RoomReading(id: number, room: MeteredRoom.key(number % roomCount), degrees: degrees)
  }

  /// Follows the list in a task that takes each change; it has the first result when this returns.
  func follow(_ followed: Followed) throws {
    let rooms = Query(order: [.ascending(\MeteredRoom.name)])
    let highest = Query<RoomReading>(order: [.descending(\.degrees)])
    switch followed {
    case .none: break
    case .list: take(models.store.follow(rooms))
    case .count:
      take(models.store.follow(rooms, with: .answer(.sum(\RoomReading.degrees), by: \.room)))
    case .first: take(models.store.follow(rooms, with: .first(of: highest, by: \.room)))
    case .has:
      let hot = Query(filter: \RoomReading.degrees > 70)
      take(models.store.follow(Query<MeteredRoom>(filter: .has(hot, by: \.room))))
    }
  }

  private func take(_ elements: some AsyncSequence<some Sendable, any Error> & Sendable) {
    let (started, waiting) = AsyncStream<Void>.makeStream()
    readers.append(Task { for try await _ in elements { waiting.yield() } })
    waitUntilDone { for await _ in started { break } }
  }

  /// Commits a reading.
  func change(_ number: Int) throws {
    let new = reading(number * 7 % (roomCount * 100), degrees: number % 77)
    try models.store.write { try $0.set(new) }
  }

  /// Returns when the list shows all changes: a write returns when it is stored.
  func waitUntilShown() throws {
    let failure = TaskFailure()
    waitUntilDone { [self] in
      do {
        try await models.store.write { _ in }
      } catch {
        failure.keep(error)
      }
    }
    if let error = failure.error { throw error }
  }
}
