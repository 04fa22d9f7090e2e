import CoreManagers
import Locking
import ModelCore
import StoreEngine

/// Something that tasks wait for without holding a thread.
final class Signal: Sendable {
  private struct State {
    var hasHappened = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  func send() {
    let waiters = state.withLock { state in
      state.hasHappened = true
      return exchange(&state.waiters, with: [])
    }
    for waiter in waiters { waiter.resume() }
  }

  func received() async {
    await withCheckedContinuation { continuation in
      let hasHappened = state.withLock { state in
        if !state.hasHappened { state.waiters.append(continuation) }
        return state.hasHappened
      }
      if hasHappened { continuation.resume() }
    }
  }
}

/// A server whose answers the test gives by hand, with a queue whose only entry is in the store.
final class QueueDouble<E: PersistentEntity>: RemoteStoring {
  private struct State {
    var reads: [CheckedContinuation<[E], any Error>] = []
    var hasRead = Signal()
    var write: WriteDouble<E>?
  }

  private let state = Locked(State())
  /// Where the answers to writes are stored; `nil` if the manager does it.
  private let store: ModelStore?

  init(_ store: ModelStore?) { self.store = store }

  var level: StoreLevel { .remote }

  func fetch(_ query: Query<E>, in context: ReadContext<E>) async throws -> RemoteAnswer<E> {
    let entities = try await withCheckedThrowingContinuation { continuation in
      let signal = state.withLock { state in
        state.reads.append(continuation)
        return state.hasRead
      }
      signal.send()
    }
    return RemoteAnswer(result: QueryResult(entities), isComplete: query.isUnbounded)
  }

  /// Waits until somebody asks.
  func asked() async { await state.withLock { $0.hasRead }.received() }

  /// Answers the first who asks.
  func answerRead(_ result: Result<[E], any Error>) {
    let read = state.withLock { state in
      state.hasRead = Signal()
      return state.reads.removeFirst()
    }
    read.resume(with: result)
  }

  func request(
    toSet entities: [E], in context: WriteContext<E>
  ) throws -> any QueuedWrite<E> { makeWrite() }

  func request(
    toRemove identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) throws -> any QueuedWrite<E> { makeWrite() }

  private func makeWrite() -> WriteDouble<E> {
    let write = WriteDouble<E>()
    state.withLock { $0.write = write }
    return write
  }

  /// Carries out what the queue does with the answer to the request: also after a restart.
  func answerWrite(_ entities: [E]) async throws {
    var stored = entities
    if let store {
      stored = try await store.write { transaction in
        let place = try WriteDouble<E>.place(in: transaction.snapshot)
        return try transaction.apply(entities, asOf: place).compactMap(\.stored)
      }
    }
    state.withLock { $0.write }?.finish(.success(stored))
  }

  func get(withQuery query: Query<E>, in context: ReadContext<E>) async throws -> QueryResult<E> {
    try await fetch(query, in: context).result
  }

  func search(withQuery query: Query<E>, in context: ReadContext<E>) async throws -> QueryResult<E>
  {
    try await fetch(query, in: context).result
  }

  func set(_ entities: [E], in context: WriteContext<E>) async throws -> [E] {
    throw TestFailure.refused
  }

  func remove(_ identifiers: [EntityIdentifier<E>], in context: WriteContext<E>) async throws {
    throw TestFailure.refused
  }

  func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] { throw TestFailure.refused }
}

/// A request in the queue of a double.
final class WriteDouble<E: PersistentEntity>: QueuedWrite {
  private static var property: String { "queue of a double" }

  private let result = Locked<Result<[E], any Error>?>(nil)
  private let signal = Signal()

  func enqueue(_ transaction: inout ModelTransaction) throws {
    let place = transaction.takePlace()
    try transaction.setProperty(Self.property, to: Array("\(place)".utf8))
  }

  static func place(in snapshot: ModelSnapshot) throws -> UInt64 {
    UInt64(String(decoding: try snapshot.property(property) ?? [], as: UTF8.self)) ?? 0
  }

  func enqueue() async throws {}

  func committed() {}

  func firstOutcome() async throws -> [E]? { nil }

  func answer() async throws -> [E] {
    await signal.received()
    return try result.withLock { $0 }?.get() ?? []
  }

  func finish(_ result: Result<[E], any Error>) {
    self.result.withLock { $0 = result }
    signal.send()
  }
}
