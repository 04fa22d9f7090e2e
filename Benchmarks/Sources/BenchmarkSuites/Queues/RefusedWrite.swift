import Foundation
import Pando
import PandoRemote
import Synchronization

/// A write that a server refuses after others have been queued behind it.
struct RefusedWrite {
  @Model fileprivate struct Book: PersistentEntity, MutableEntity {
    var id: EntityIdentifier<Book>
    var title: String
    var year = 0
  }

  /// Refuses the first request when the test says so, and can't be reached afterwards.
  private final class Server: APIClient {
    private let state = Mutex((count: 0, refusedAt: ContinuousClock.now))
    private let gate = AsyncStream<Void>.makeStream()

    var refusedAt: ContinuousClock.Instant { state.withLock { $0.refusedAt } }

    func refuse() { gate.continuation.finish() }

    func send(_ request: APIRequest) async throws -> APIResponse {
      let isFirst = state.withLock { state in
        state.count += 1
        return state.count == 1
      }
      guard isFirst else { throw URLError(.notConnectedToInternet) }
      for await _ in gate.stream {}
      state.withLock { $0.refusedAt = .now }
      return APIResponse(status: 422)
    }
  }

  /// How many writes are queued behind it, and how many of them are to the same entity.
  let laterCount: Int
  let sameCount: Int

  /// Carries it out.
  ///
  /// - Returns: The time from the refusal until the caller gets it and the write is undone.
  func measure(in directory: WorkingDirectory) throws -> Duration {
    let isDone = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<Duration, any Error>?>(nil)
    Task.detached {
      let result: Result<Duration, any Error>
      do {
        result = .success(try await run(in: directory))
      } catch {
        result = .failure(error)
      }
      outcome.withLock { $0 = result }
      isDone.signal()
    }
    isDone.wait()
    guard let result = outcome.withLock({ $0 }) else { throw CancellationError() }
    return try result.get()
  }

  private func run(in directory: WorkingDirectory) async throws -> Duration {
    var configuration = ModelStore.Configuration()
    configuration.durability = .consistent
    let store = try ModelStore(path: directory.path, configuration: configuration)
    let server = Server()
    let container = try CoreManagerContainer(
      entities: Book.self, client: server, diskStoreConfig: .store(store))
    let books = container[Book.self]
    let first = EntityIdentifier<Book>.remote("0")
    try await books.set(Book(id: first, title: "Dune"))
    let refused = try await books.updateIfPresent(byID: first, in: .localAndRemote) {
      $0.title = "refused"
    }
    for number in 1...laterCount {
      if number % (laterCount / sameCount) == 0 {
        try await books.updateIfPresent(byID: first, in: .localAndRemote) { $0.year = number }
      } else {
        try await books.set(
          Book(id: .remote("\(number)"), title: "Book \(number)"), in: .localAndRemote)
      }
    }
    server.refuse()
    do {
      try await refused?.confirmed()
    } catch {}
    let took = ContinuousClock.now - server.refusedAt
    guard try await books.get(byID: first)?.title == "Dune" else {
      throw CocoaError(.coderInvalidValue)
    }
    await container.close()
    await store.close()
    return took
  }
}
