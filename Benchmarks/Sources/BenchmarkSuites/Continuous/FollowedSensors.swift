import Pando

/// A sensor in a store, and queries over such that somebody follows.
final class FollowedSensors: @unchecked Sendable {
  // Sendable because one task after another uses it, and each is waited for.

  private typealias Iterator = ContinuousSequence<QueryResult<Sensor>>.AsyncIterator

  private let models: PandoModels
  private let manager: CoreManager<Sensor>
  private let failure = TaskFailure()
  private var iterators: [Iterator] = []
  /// What the followed queries show, all added.
  private var sum: UInt64 = 0

  /// Fills a store.
  init(_ directory: WorkingDirectory, _ durability: Durability) throws {
    models = try PandoModels(directory, durability)
    manager = CoreManager(stores: [DiskStore(modelStore: models.store)])
    try change(0)
  }

  /// Follows queries; each has its first value when this returns.
  func follow(_ queries: [Query<Sensor>]) throws {
    waitUntilDone { [self] in
      do {
        for query in queries {
          var iterator = manager.continuousSearch(withQuery: query).values.makeAsyncIterator()
          _ = try await iterator.next()
          iterators.append(iterator)
        }
      } catch {
        failure.keep(error)
      }
    }
    if let error = failure.error { throw error }
  }

  /// Commits a change of the sensor in room 0.
  func change(_ number: Int) throws {
    try models.store.write { try $0.set(Sensor(id: .remote(0), room: 0, degrees: number)) }
  }

  /// What the queries show that a commit concerns.
  ///
  /// - Parameter count: How many these are, from the first on.
  /// - Returns: A checksum of it.
  /// - Throws: What a query throws.
  func checksum(of count: Int) throws -> UInt64 {
    waitUntilDone { [self] in
      do {
        for index in iterators.indices.prefix(count) {
          let result = try await iterators[index].next()
          sum = sum &* 31 &+ UInt64(result?.first?.degrees ?? 0)
        }
      } catch {
        failure.keep(error)
      }
    }
    if let error = failure.error { throw error }
    return sum
  }
}
