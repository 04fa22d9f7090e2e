import Pando

/// Books in a store, read through the manager of a container and without one.
final class ManagedBooks: Sendable {
  private let models: PandoModels
  private let container: CoreManagerContainer

  /// Opens a store that has been filled.
  ///
  /// - Parameters:
  ///   - directory: Where it is.
  ///   - cacheLimit: How many entities memory holds at most, 0 for no memory; `nil` for what a
  ///     container has where nothing is said.
  /// - Throws: The error of opening.
  init(_ directory: WorkingDirectory, cacheLimit: Int?) throws {
    models = try PandoModels(directory, .unsynchronized)
    container = try CoreManagerContainer(
      entities: Book.self, cacheLimit: cacheLimit ?? CoreManagerContainer.defaultCacheLimit,
      diskStoreConfig: .store(models.store))
  }

  deinit {
    waitUntilDone { [container] in await container.close() }
  }

  /// Gets books from the store, in a read transaction each.
  func read(_ identifiers: [EntityIdentifier<Book>], _ latencies: Latencies) throws -> UInt64 {
    var checksum = BookChecksum()
    for identifier in identifiers {
      let book = try latencies.time {
        try models.store.read { try $0.get(identifier.modelIdentifier, as: Book.self) }
      }
      if let book { checksum.add(book) }
    }
    return checksum.value
  }

  /// Reads all books from the store, in one read transaction each time.
  func readAll(_ count: Int, _ latencies: Latencies) throws -> UInt64 {
    let query = Query<Book>.all
    var checksum = BookChecksum()
    for _ in 0..<count {
      let found = try latencies.time { try models.store.read { try $0.find(query) } }
      for book in found.entities { checksum.add(book) }
    }
    return checksum.value
  }

  /// Gets books from the manager, one after another, in one task.
  func get(_ identifiers: [EntityIdentifier<Book>], _ latencies: Latencies) throws -> UInt64 {
    try inTask(latencies) { [manager = container[Book.self]] latencies in
      var checksum = BookChecksum()
      for identifier in identifiers {
        let book = try await latencies[0].timeWaiting { try await manager.get(byID: identifier) }
        if let book { checksum.add(book) }
      }
      return checksum.value
    }
  }

  /// Reads all books from the manager.
  func getAll(_ count: Int, _ latencies: Latencies) throws -> UInt64 {
    try inTask(latencies) { [manager = container[Book.self]] latencies in
      var checksum = BookChecksum()
      for _ in 0..<count {
        let found = try await latencies[0].timeWaiting { try await manager.all() }
        for book in found.entities { checksum.add(book) }
      }
      return checksum.value
    }
  }

  /// How a task scans the store.
  enum Scan: String, CaseIterable {
    case blocking
    case read
    case manager

    /// For people.
    var text: String {
      switch self {
      case .blocking: "a blocking read in a task"
      case .read: "store.read of a task"
      case .manager: "a manager"
      }
    }
  }

  /// The number of tasks that scan at the same time.
  static let scanCount = 4

  /// Reads all books in some tasks at once, and records how late another task wakes meanwhile.
  func scan(_ scan: Scan, _ latencies: Latencies) throws -> UInt64 {
    let query = Query<Book>.all
    return try inTask(latencies) {
      [store = models.store, manager = container[Book.self]] latencies in
      let ticker = Task {
        while !Task.isCancelled {
          let due = ContinuousClock.now + .milliseconds(5)
          try? await Task.sleep(until: due, clock: .continuous)
          // At the end it wakes too early.
          let late = (ContinuousClock.now - due) / .nanoseconds(1)
          if late > 0 { latencies[0].record(nanoseconds: UInt64(late)) }
        }
      }
      let found = try await withThrowingTaskGroup(of: Int.self) { tasks in
        for _ in 0..<Self.scanCount {
          tasks.addTask {
            switch scan {
            case .blocking: try Self.findBlocking(query, in: store)
            case .read: try await store.read { try $0.find(query).entities.count }
            case .manager: try await manager.search(withQuery: query).entities.count
            }
          }
        }
        return try await tasks.reduce(0, +)
      }
      ticker.cancel()
      await ticker.value
      return UInt64(found)
    }
  }

  private static func findBlocking(_ query: Query<Book>, in store: ModelStore) throws -> Int {
    try store.read { try $0.find(query).entities.count }
  }

  /// Does work in one task, for which the calling thread waits.
  private func inTask(
    _ latencies: Latencies, _ body: @escaping @Sendable (ThreadLatencies) async throws -> UInt64
  ) throws -> UInt64 {
    let shared = ThreadLatencies([latencies])
    let outcome = TaskOutcome<UInt64>()
    waitUntilDone { await outcome.run { try await body(shared) } }
    return try outcome.value()
  }
}
