import Dispatch
import Pando

/// Entities in a store, and followed queries over them.
final class FollowedEntities<E: PersistentEntity>: @unchecked Sendable {
  // Sendable because one task after another uses it, and each is waited for.

  private typealias Iterator = FollowedSequence<QueryResult<E>>.AsyncIterator

  private let models: PandoModels
  private let manager: CoreManager<E>
  private let failure = TaskFailure()
  private var iterators: [Iterator] = []
  private var readers: [Task<Void, any Error>] = []
  /// Takes the next value of each followed answer, and says whether it is the asked one.
  private var answers: [() async throws -> Bool] = []
  /// Signaled for each value of the answer that ``deliver(_:)`` follows.
  private let delivered = DispatchSemaphore(value: 0)
  /// The sum of the values that the followed queries show.
  private var sum: UInt64 = 0

  /// Fills a store.
  init(_ directory: WorkingDirectory, _ durability: Durability, _ entities: [E]) throws {
    models = try PandoModels(directory, durability)
    manager = CoreManager(stores: [DiskStore(modelStore: models.store)])
    try models.put(entities)
  }

  deinit { for reader in readers { reader.cancel() } }

  /// Follows queries; each has its first value when this returns.
  func follow(_ queries: [Query<E>]) throws {
    waitUntilDone { [self] in
      do {
        for query in queries {
          var iterator = manager.follow(query).makeAsyncIterator()
          _ = try await iterator.next()
          iterators.append(iterator)
        }
      } catch {
        failure.keep(error)
      }
    }
    if let error = failure.error { throw error }
  }

  /// Follows a query in a task that takes each change; it has the first result when this returns.
  func followChanges(of query: Query<E>) throws {
    let changes = manager.follow(query).changes
    let (started, waiting) = AsyncStream<Void>.makeStream()
    readers.append(
      Task {
        for try await step in changes where step.change == .reset { waiting.yield() }
      })
    waitUntilDone { for await _ in started { break } }
  }

  /// Follows the answer to a question; it has its first value when this returns.
  func follow<Answer: Equatable & Sendable>(
    _ question: Question<E, Answer>, of query: Query<E> = .all
  ) throws {
    waitUntilDone { [self] in
      do {
        let store = models.store
        var told = store.follow(question, of: query).makeAsyncIterator()
        let first = try await told.next()
        answers.append {
          let asked = try await store.answer(question, to: query)
          // An answer that has not changed is not delivered again.
          return asked == first ? true : try await told.next() == asked
        }
      } catch {
        failure.keep(error)
      }
    }
    if let error = failure.error { throw error }
  }

  /// Follows the answer to a question in a task; the task has the first value when this returns.
  func deliver<Answer: Equatable & Sendable>(_ question: Question<E, Answer>) {
    let store = models.store
    let values = store.follow(question, of: .all)
    let last = Last<Answer>()
    readers.append(
      Task { [delivered] in
        for try await value in values {
          last.value = value
          delivered.signal()
        }
      })
    delivered.wait()
    answers.append { try await store.answer(question, to: .all) == last.value }
  }

  /// The newest delivered answer.
  private final class Last<Answer>: @unchecked Sendable {
    // A semaphore orders the accesses.
    var value: Answer?
  }

  /// Changes an entity, and returns when the task of ``deliver(_:)`` has another answer.
  func changeAndWait(_ entity: E) throws {
    try change(entity)
    delivered.wait()
  }

  /// Changes entities in one commit.
  func change(_ entities: E...) throws { try change(entities) }

  /// Changes entities in one commit.
  func change(_ entities: [E]) throws {
    try models.store.write { for entity in entities { try $0.set(entity) } }
  }

  /// Returns when the queries show all changes: a write returns when it is stored.
  func waitUntilShown() throws {
    waitUntilDone { [self] in
      do {
        try await models.store.write { _ in }
      } catch {
        failure.keep(error)
      }
    }
    if let error = failure.error { throw error }
  }

  /// The number of followed answers that are right after changes.
  func rightAnswerCount() throws -> UInt64 {
    let outcome = TaskOutcome<UInt64>()
    waitUntilDone { [self] in
      await outcome.run {
        var count: UInt64 = 0
        for isRight in answers where try await isRight() { count += 1 }
        return count
      }
    }
    return try outcome.value()
  }

  /// Adds what the queries show that a commit concerns.
  ///
  /// - Parameters:
  ///   - count: How many these are, from the first on.
  ///   - value: The part of an entity that counts.
  /// - Returns: A checksum of the first entities.
  /// - Throws: The error of a query.
  func checksum(of count: Int, _ value: @escaping @Sendable (E) -> Int) throws -> UInt64 {
    waitUntilDone { [self] in
      do {
        for index in iterators.indices.prefix(count) {
          let result = try await iterators[index].next()
          sum = sum &* 31 &+ UInt64(result?.first.map(value) ?? 0)
        }
      } catch {
        failure.keep(error)
      }
    }
    if let error = failure.error { throw error }
    return sum
  }
}
