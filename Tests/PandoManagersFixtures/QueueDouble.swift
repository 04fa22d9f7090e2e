import PandoManagers
import PandoModels
import PandoStore
import PandoSystem

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

/// A server whose answers the test gives by hand, with a queue whose entries are in the store.
final class QueueDouble<E: PersistentEntity>: RemoteStoring {
  private struct State {
    var reads: [String: CheckedContinuation<[E], any Error>] = [:]
    var asked: [String: Signal] = [:]
    var writes: [String: WriteDouble<E>] = [:]

    mutating func askedSignal(_ key: String) -> Signal {
      let signal = asked[key] ?? Signal()
      asked[key] = signal
      return signal
    }
  }

  private let state = Locked(State())
  /// Where the answers to writes are stored; `nil` if the manager does it.
  private let store: ModelStore?

  init(_ store: ModelStore?) { self.store = store }

  var level: StoreLevel { .remote }

  func fetch(_ query: Query<E>, in context: ReadContext<E>) async throws -> RemoteAnswer<E> {
    let key = query.identifiers?.first?.text ?? ""
    let entities = try await withCheckedThrowingContinuation { continuation in
      let signal = state.withLock { state in
        state.reads[key] = continuation
        return state.askedSignal(key)
      }
      signal.send()
    }
    return RemoteAnswer(result: QueryResult(entities), isComplete: query.isUnbounded)
  }

  /// Waits until somebody asks for an entity.
  func asked(for key: String) async { await state.withLock { $0.askedSignal(key) }.received() }

  /// Answers who asks for an entity.
  func answerRead(of key: String, _ result: Result<[E], any Error>) {
    let read = state.withLock { state in
      state.asked[key] = nil
      return state.reads.removeValue(forKey: key)
    }
    read?.resume(with: result)
  }

  func request(
    toSet entities: [E], in context: WriteContext<E>
  ) throws -> any QueuedWrite<E> { makeWrite(entities.first?.id.text ?? "") }

  func request(
    toRemove identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) throws -> any QueuedWrite<E> { makeWrite(identifiers.first?.text ?? "") }

  private func makeWrite(_ key: String) -> WriteDouble<E> {
    let write = WriteDouble<E>(key)
    state.withLock { $0.writes[key] = write }
    return write
  }

  /// Carries out what the queue does with the answer to a request: also after a restart.
  func answerWrite(_ entity: E) async throws {
    let key = entity.id.text
    var stored = [entity]
    if let store {
      stored = try await store.write { transaction in
        let place = try WriteDouble<E>.place(of: key, in: transaction.snapshot)
        return try transaction.apply([entity], asOf: place).compactMap(\.stored)
      }
    }
    state.withLock { $0.writes[key] }?.finish(.success(stored))
  }

  func get(withQuery query: Query<E>, in context: ReadContext<E>) async throws -> QueryResult<E> {
    try await fetch(query, in: context).result
  }

  func search(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> { try await fetch(query, in: context).result }

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
  private let key: String
  private let result = Locked<Result<[E], any Error>?>(nil)
  private let signal = Signal()

  init(_ key: String) { self.key = key }

  private static func property(_ key: String) -> String { "queue of a double/\(key)" }

  func enqueue(_ transaction: inout ModelTransaction) throws {
    let place = transaction.takeSequenceNumber()
    try transaction.setProperty(Self.property(key), to: Array("\(place)".utf8))
  }

  static func place(of key: String, in snapshot: ModelSnapshot) throws -> UInt64 {
    UInt64(String(decoding: try snapshot.property(property(key)) ?? [], as: UTF8.self)) ?? 0
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
